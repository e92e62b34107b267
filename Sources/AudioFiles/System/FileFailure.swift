/// Why a sound file cannot be read or written, in words for the person who asked.
public struct FileFailure: Error, Sendable, Equatable {
  /// What sort of trouble it is, and so what to do next.
  public enum Kind: Sendable, Equatable {
    /// An input is not there, or is no file.
    case cannotOpen
    /// An input is there, and is damaged, or cannot do what is asked of it.
    case unusableContents
    /// An input is there, and does not begin like sound of any kind known.
    case unknownContents
    /// An output exists already, or has no folder to go to.
    case cannotCreate
    /// This user may not read or write it.
    case permissionDenied
    /// The file format cannot hold what was asked of it. Nothing was created.
    case invalidRequest
    /// No room is left. What fitted is saved.
    case diskFull
    /// The disk failed while reading.
    case readFailed
    /// The disk failed while writing. What was written before is saved.
    case writeFailed
    /// The user wants it no more. Nothing was changed.
    case interrupted
    /// Whoever read our output has gone.
    case closedPipe
  }

  /// What sort of trouble it is.
  public let kind: Kind
  /// One sentence that names the file and says what is wrong.
  public let message: String
  /// One sentence that says what to do.
  public let hint: String

  /// A failure of `kind` with its two sentences.
  public init(_ kind: Kind, _ message: String, hint: String) {
    self.kind = kind
    self.message = message
    self.hint = hint
  }
}
