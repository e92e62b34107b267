import RealtimeAudio

/// The reason why a device cannot do what was asked, with a message and a hint for the user.
///
/// ```swift
/// var request = DuplexRequest(captureDevice: "hw:1,0", playbackDevice: nil)
/// request.periodFrames = 0
/// do throws(DeviceFailure) {
///   try request.validate()
/// } catch {
///   precondition(error.kind == .invalidRequest)
///   print(error.message, error.hint)
/// }
/// ```
public struct DeviceFailure: ExplainedFailure, Sendable, Equatable {
  /// The category of a failure, on which the next step depends.
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

  /// A change that would help, for programs that word their own hints.
  public enum Remedy: Sendable, Equatable {
    /// End what another program, which keeps the card, does with it, or go through a sound server.
    case useSoundServer
    /// End the program that holds the device, or choose another device.
    case endHolder
    /// Start the server behind the device, or choose another device.
    case startServer
    /// Choose one of the devices there are, or a simulated one.
    case chooseDevice
    /// Choose other settings, which the device can do.
    case chooseSettings
    /// Choose a secondary output that plays in real time.
    case chooseSecondaryOutput
    /// Have fewer secondary outputs, and an output.
    case removeSecondaryOutputs
    /// Multiply the samples: the device has no volume.
    case applyGain
    /// Have more `periods`, or a lower `headroomFrames`.
    case enlargeBuffer
    /// Have a longer period or more headroom.
    case enlargePeriod
    /// Have a shorter period or less headroom: the buffer holds only `bufferFrames`.
    case shrinkPeriod(bufferFrames: Int)
    /// Have a period within these limits, in frames.
    case choosePeriod(within: ClosedRange<Int>)
    /// Name other channels: the device may have as many as this.
    case chooseChannels(within: ClosedRange<Int>, isCapture: Bool)
    /// Have another number of channels, within these limits, or let ALSA's plug plugin convert
    /// them.
    case chooseChannelCount(within: ClosedRange<Int>, device: String)
    /// Name one of the input's channels twice: there are fewer than were asked for.
    case repeatChannel(within: ClosedRange<Int>)
    /// Choose another rate.
    case chooseRate
  }

  /// What sort of trouble it is.
  public let kind: Kind
  /// One sentence that says what is wrong.
  public let message: String

  /// One sentence that says what to do.
  public let hint: String
  /// The same as a fact, where it is a setting.
  public let remedy: Remedy?

  /// A failure of `kind` with its two sentences, and `remedy` where a setting would help.
  public init(_ kind: Kind, _ message: String, hint: String, remedy: Remedy? = nil) {
    self.remedy = remedy
    self.kind = kind
    self.message = message
    self.hint = hint
  }
}

extension DeviceFailure {
  /// There is no device that the name is of.
  static func notFound(_ kind: Kind, _ message: String) -> DeviceFailure {
    DeviceFailure(
      kind, message, hint: "Choose an existing device, or a simulated one.",
      remedy: .chooseDevice)
  }

  /// This user may not open `what`.
  static func denied(_ what: String) -> DeviceFailure {
    DeviceFailure(
      .permissionDenied, "This user may not open \(what).", hint: AudioGroup.remedy)
  }

  static let noDevice = DeviceFailure(
    .invalidRequest, "Neither an input nor an output is named.", hint: "Name at least one device.")
}

extension DeviceFailure {
  /// A thread that the system refused.
  package init(_ failure: ThreadFailure) {
    self.init(.refused, failure.message, hint: "End other programs, then try again.")
  }
}

/// The failures after which a unit cannot go on.
extension DeviceFailure {
  static func lost(_ configuration: DuplexConfiguration) -> DeviceFailure {
    guard !configuration.isServer else { return serverGone(configuration.deviceNames) }
    return DeviceFailure(
      .lost, "The device \(configuration.deviceNames) went away.",
      hint: "Plug it in again, then start again.")
  }

  /// The sound server behind `device` ended, or does not answer any more.
  package static func serverGone(_ device: String) -> DeviceFailure {
    DeviceFailure(
      .lost, "The sound server behind \(device) went away.",
      hint: "Start the server again, then try again.")
  }

  /// A device cannot be waited for once it is gone.
  static func noThread(waitingFor devices: String) -> DeviceFailure {
    DeviceFailure(
      .refused, "No thread could be started that waits for \(devices).",
      hint: "End other programs, then start again.")
  }

  static func persistentXrun(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The device \(configuration.deviceNames) loses frames faster than it delivers them.",
      hint: "Ask for a longer period or more headroom.", remedy: .enlargePeriod)
  }

  /// A callback that has not returned for `seconds`.
  package static func callbackHangs(seconds: Int) -> DeviceFailure {
    DeviceFailure(
      .refused, "A callback or an effect has not returned for \(seconds) seconds.",
      hint: "Let it wait for nothing: no lock, no file, no loop without an end.")
  }

  /// A device that has delivered nothing for `seconds`.
  package static func stalled(
    _ configuration: DuplexConfiguration, seconds: Int
  ) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The device \(configuration.deviceNames) has delivered nothing for \(seconds) seconds.",
      hint: "Check its cable and clock source, then start again.")
  }
}
