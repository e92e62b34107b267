/// Why a device cannot do what was asked, in words for the person who asked.
public struct DeviceFailure: Error, Sendable, Equatable {
  /// What sort of trouble it is, and so what to do next.
  public enum Kind: Sendable, Equatable {
    /// There is no such device.
    case notFound
    /// Another program holds it.
    case busy
    /// It is there, and refuses a rate, a size or a format.
    case refused
    /// This user may not open it.
    case permissionDenied
    /// It went away while in use.
    case lost
    /// The request contradicts itself, whatever the device.
    case invalidRequest
  }

  /// What sort of trouble it is.
  public let kind: Kind
  /// One sentence that says what is wrong.
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
