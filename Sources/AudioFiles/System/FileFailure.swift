import Glibc

/// Error of reading or writing a sound file, in words for the person who asked.
///
/// ```swift
/// do throws(FileFailure) {
///   _ = try SoundFileReader(path: "nowhere.wav")
/// } catch {
///   precondition(error.kind == .cannotOpen)
///   print(error.message, error.hint)
/// }
/// ```
public struct FileFailure: ExplainedFailure, Sendable, Equatable {
  /// Kind of a failure, and so what to do next.
  public enum Kind: Sendable, Equatable {
    /// An input is not there, or is no file.
    case cannotOpen
    /// An input is there, and is damaged, or cannot do what is asked of it.
    case unusableContents
    /// An input is there, and is not sound of a known format.
    case unknownContents
    /// An output exists already, has no folder to go to, or no room on the disk for its beginning.
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
    /// The reader of our output has gone.
    case closedPipe
  }

  /// Remedy of a failure, where it is a choice of the caller's: for programs that word their own
  /// hints.
  public enum Remedy: Sendable, Equatable {
    /// Send a sound file down the pipe.
    case sendSound
    /// Send contents of a known kind down the pipe, or say how bare samples are to be read.
    case describeSamples
    /// Say what the file held whose header is lost: rate, channels and sample format.
    case describeLostHeader
    /// Choose another name, or replace what is there.
    case overwrite
    /// Choose another name, or mend the damaged file itself.
    case repairInPlace
    /// Mend a copy.
    case mendCopy
    /// Make room, write elsewhere, or mend the damaged file itself.
    case makeRoom
    /// Have a ring of fewer seconds.
    case shortenRing
    /// Have a higher rate of the output, or a lower speed.
    case slowDown
  }

  /// What sort of trouble it is.
  public let kind: Kind
  /// One sentence that names the file and says what is wrong.
  public let message: String

  /// One sentence that says what to do.
  public let hint: String
  /// The same as a fact, where it is a choice of the caller's.
  public let remedy: Remedy?

  /// A failure of `kind` with its two sentences, and `remedy` where a choice of the caller's would
  /// help.
  public init(_ kind: Kind, _ message: String, hint: String, remedy: Remedy? = nil) {
    self.remedy = remedy
    self.kind = kind
    self.message = message
    self.hint = hint
  }
}

/// Result of `call`; where the kernel refuses it, throws the failure that `failure` makes of that.
func mapSystemError<Answer: ~Copyable>(
  _ call: @autoclosure () throws(SystemError) -> Answer,
  as failure: (SystemError) -> FileFailure
) throws(FileFailure) -> Answer {
  do throws(SystemError) {
    return try call()
  } catch {
    throw failure(error)
  }
}

/// Failures of opening, reading and writing, most of them made from an error of the kernel.
extension FileFailure {
  /// An input could not be opened.
  static func opening(_ path: String, _ error: SystemError) -> FileFailure {
    let path = FileName.withoutUser(path)
    if error.isDenied {
      return FileFailure(
        .permissionDenied, "You may not read \(path).", hint: "Check its permissions with ls -l.")
    }
    switch error.number {
    case EISDIR: return .isFolder(path)
    case ESPIPE, ENXIO:
      return FileFailure(
        .cannotOpen, "\(path) is a pipe or a device, not a file.", hint: "Name a file on disk.")
    case ENOENT, ENOTDIR:
      return FileFailure(
        .cannotOpen, path.isEmpty ? "The name of a file is empty." : "There is no file \(path).",
        hint: path.contains("://")
          ? "Save what is at the address to a file first, and name that."
          : "Check the spelling of its name.")
    case EMFILE:
      return FileFailure(
        .cannotOpen, "\(path) cannot be opened: too many files are open already.",
        hint: "Play fewer files at once, or raise ulimit -n.")
    default:
      return FileFailure(
        .cannotOpen, "\(path) cannot be opened: \(error.reason).",
        hint: "Check the file and the disk it is on.")
    }
  }

  /// Standard input was closed before the program began, or holds what no file is.
  static var closedInput: FileFailure {
    FileFailure(
      .cannotOpen, "Standard input is closed.",
      hint: "Send it a sound file.", remedy: .sendSound)
  }

  /// An input comes through a pipe, and is wanted a second time.
  package static func readOnce(_ name: String) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(name) comes through a pipe, and can be read only once.",
      hint: "Save it to a file first, and name that.")
  }

  /// An input is a folder.
  static func isFolder(_ path: String) -> FileFailure {
    FileFailure(.cannotOpen, "\(path) is a folder, not a sound file.", hint: "Name a file in it.")
  }

  /// An input could not be read on.
  static func reading(_ path: String, _ error: SystemError) -> FileFailure {
    FileFailure(
      .readFailed, "\(path) cannot be read on: \(error.reason).",
      hint: "Check the disk or the connection it is read from.")
  }

  /// An output could not be created.
  static func creating(_ path: String, _ error: SystemError) -> FileFailure {
    let path = FileName.withoutUser(path)
    if error.isDenied {
      return FileFailure(
        .permissionDenied, "You may not write \(path).",
        hint: "Choose a folder that is yours, or check the permissions with ls -l.")
    }
    if error.isFullDisk {
      return FileFailure(
        .cannotCreate, "\(path) cannot be created: the disk is full.",
        hint: "Make room, or choose another disk.")
    }
    let (message, hint) =
      switch error.number {
      case EEXIST:
        ("\(path) exists already.", "Choose another name, or replace it.")
      case ENOLINK:
        ("\(path) is a link that leads nowhere.", "Remove it, or choose another name.")
      case ESPIPE:
        ("\(path) is a pipe or a device, which no file takes the place of.", "Choose another name.")
      case EWOULDBLOCK:
        (
          "\(path) is being written by another program.",
          "Wait until that has ended, or choose another name."
        )
      case EISDIR: ("\(path) is a folder.", "Name a file in it.")
      case ENOENT where FileName.isAddress(path):
        ("\(path) is an address, where nothing can be written.", "Name a file.")
      case ENOENT where FileStatus(of: FileName.folder(of: path))?.isFolder == true:
        ("\(path) cannot be created: its folder takes no new files.", "Choose another folder.")
      case ENOENT, ENOTDIR:
        (
          "\(path) cannot be created: its folder does not exist.",
          "Create the folder first, or choose another."
        )
      case ENXIO: ("No program reads the pipe \(path).", "Start its reader first.")
      case EINVAL where path.utf8.contains(0):
        ("The name of a file cannot hold a zero byte.", "Choose another name.")
      case EROFS:
        ("\(path) cannot be created: its disk is read-only.", "Choose another disk.")
      default: ("\(path) cannot be created: \(error.reason).", "Choose another name.")
      }
    return FileFailure(
      .cannotCreate, message, hint: hint, remedy: error.number == EEXIST ? .overwrite : nil)
  }

  /// An output is wanted no more.
  public static func interrupted(_ path: String) -> FileFailure {
    FileFailure(
      .interrupted,
      "Stopped before \(path) was complete: its draft is removed, and what was there before stays.",
      hint: "Start it again when there is time for it.")
  }

  /// An output could not be written on. `saved` says in words what it holds.
  static func writing(_ path: String, _ error: SystemError, saved: String) -> FileFailure {
    if error.isFullDisk {
      return FileFailure(
        .diskFull, "The disk is full: \(path) holds \(saved).",
        hint: "Make room, or use another disk.")
    }
    switch error.number {
    case EPIPE:
      return FileFailure(
        .closedPipe, "The program that read \(path) has stopped reading.",
        hint: "Check the program at the other end of the pipe.")
    case EFBIG:
      return FileFailure(
        .writeFailed, "\(path) has reached the largest size allowed: it holds \(saved).",
        hint: "Go on in a new file, or use a file system for large files.")
    default:
      return FileFailure(
        .writeFailed, "\(path) cannot be written on: \(error.reason); it holds \(saved).",
        hint: "Check the disk.")
    }
  }
}

/// Error of a system call. Does not leave this module: see `FileFailure`.
struct SystemError: Error {
  let number: Int32

  /// The refusal of the call just made.
  static var last: SystemError { SystemError(number: errno) }

  /// In the C library's words.
  var reason: String { String(cString: strerror(number)) }

  var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }
  /// Whether there was no room, or no disk any more.
  var isRefusedWrite: Bool { isFullDisk || number == EFBIG || number == EIO }
  var isDenied: Bool { number == EACCES || number == EPERM }
}
