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

extension DeviceFailure {
  static let noDevice = DeviceFailure(
    .invalidRequest, "Neither an input nor an output is named.", hint: "Name at least one device.")
}

/// Why a unit cannot go on.
extension DeviceFailure {
  static func lost(_ configuration: DuplexConfiguration) -> DeviceFailure {
    guard !configuration.isServer else { return serverGone(configuration.deviceNames) }
    return DeviceFailure(
      .lost, "The device \(configuration.deviceNames) went away.",
      hint: "Plug it in again, then start anew; what was recorded so far is saved.")
  }

  /// The sound server behind `device` ended, or does not answer any more.
  static func serverGone(_ device: String) -> DeviceFailure {
    DeviceFailure(
      .lost, "The sound server behind \(device) went away.",
      hint: "Start it again, then start anew; what was recorded so far is saved.")
  }

  static func persistentXrun(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The device \(configuration.deviceNames) loses frames faster than it delivers them.",
      hint: "Ask for a larger --period-size or --headroom, or find both with `duplex tune`.")
  }

  /// A device that delivers nothing.
  package static func stalled(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost, "The device \(configuration.deviceNames) has delivered nothing for 5 seconds.",
      hint: "Check its cable and clock source, then start anew.")
  }
}
