import RealtimeAudio

/// The reason why a device cannot do what was requested, with a message and a hint for the user.
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
    /// Another program holds the device.
    case busy
    /// The device exists, and refuses a rate, a size or a format.
    case refused
    /// This user may not open the device.
    case permissionDenied
    /// The device went away while in use.
    case lost
    /// The request is invalid for every device.
    case invalidRequest
  }

  /// A change that would help, for programs that write their own hints.
  public enum Remedy: Sendable, Equatable {
    /// Stop the use of the card by another program, which does not release it, or use a sound
    /// server.
    case useSoundServer
    /// End the program that holds the device, or choose another device.
    case endHolder
    /// Start the server that the device needs, or choose another device.
    case startServer
    /// Choose one of the existing devices, or a simulated one.
    case chooseDevice
    /// Choose other settings, which the device supports.
    case chooseSettings
    /// Choose a secondary output that plays in real time.
    case chooseSecondaryOutput
    /// Use fewer secondary outputs, and an output.
    case removeSecondaryOutputs
    /// Multiply the samples by a gain: the device has no volume.
    case applyGain
    /// Use more `periods`, or a lower `headroomFrames`.
    case enlargeBuffer
    /// Use a longer period or more headroom.
    case enlargePeriod
    /// Use a shorter period or less headroom: the buffer holds only `bufferFrames` frames.
    case shrinkPeriod(bufferFrames: Int)
    /// Use a period within these limits, in frames.
    case choosePeriod(within: ClosedRange<Int>)
    /// Name other channels: the device supports channel counts in this range.
    case chooseChannels(within: ClosedRange<Int>, isCapture: Bool)
    /// Use another number of channels, within these limits, or let ALSA's plug plugin convert them.
    case chooseChannelCount(within: ClosedRange<Int>, device: String)
    /// Name one of the input's channels twice: there are fewer than requested.
    case repeatChannel(within: ClosedRange<Int>)
    /// Choose another rate.
    case chooseRate
  }

  /// The category of the failure.
  public let kind: Kind
  /// The problem in one sentence.
  public let message: String

  /// The remedy in one sentence.
  public let hint: String
  /// The remedy as a value, if it is a setting; otherwise nil.
  public let remedy: Remedy?

  /// Creates a failure of `kind` with its two sentences, and `remedy` if a setting would help.
  public init(_ kind: Kind, _ message: String, hint: String, remedy: Remedy? = nil) {
    self.remedy = remedy
    self.kind = kind
    self.message = message
    self.hint = hint
  }
}

extension DeviceFailure {
  /// Returns the failure of a name that no device has.
  static func notFound(_ kind: Kind, _ message: String) -> DeviceFailure {
    DeviceFailure(
      kind, message, hint: "Choose an existing device, or a simulated one.",
      remedy: .chooseDevice)
  }

  /// Returns the failure of a user who may not open `what`.
  static func denied(_ what: String) -> DeviceFailure {
    DeviceFailure(
      .permissionDenied, "This user may not open \(what).", hint: AudioGroup.remedy)
  }

  static let noDevice = DeviceFailure(
    .invalidRequest, "Neither an input nor an output is named.", hint: "Name at least one device.")
}

extension DeviceFailure {
  /// Creates the failure of a thread that the system did not start.
  package init(_ failure: ThreadFailure) {
    self.init(.refused, failure.message, hint: "End other programs, then try again.")
  }
}

/// The failures after which a unit cannot continue.
extension DeviceFailure {
  /// What to do after the loss of a device that is not a sound server.
  package static let reconnectionHint = "Plug it in again, then start again."

  static func lost(_ configuration: DuplexConfiguration) -> DeviceFailure {
    guard !configuration.isServer else { return serverGone(configuration.deviceNames) }
    return DeviceFailure(
      .lost, "The device \(configuration.deviceNames) went away.",
      hint: reconnectionHint)
  }

  /// Returns the failure of a sound server for `device` that has ended, or no longer responds.
  package static func serverGone(_ device: String) -> DeviceFailure {
    DeviceFailure(
      .lost, "The sound server behind \(device) went away, or accepts no frames.",
      hint: "Start it again. If it runs, it has no input or output left, or moves more frames at a "
        + "time (its quantum) than the buffer holds: ask for a longer period.")
  }

  /// Returns the failure of a device for whose return no thread can wait.
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

  /// Returns the failure of an output that runs dry before its clock is known, however often it is
  /// started, and has played nothing else than silence for `seconds` seconds.
  package static func outputMuted(
    _ configuration: DuplexConfiguration, seconds: Int
  ) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The output \(configuration.playback?.device ?? "") has played nothing for "
        + "\(seconds.counted("second")): it runs dry before its clock is known.",
      hint: "Ask for a longer period, which makes its buffer longer, or choose another output.",
      remedy: .enlargePeriod)
  }

  /// Returns the failure of a callback that has not returned for `seconds` seconds.
  package static func callbackHangs(seconds: Int) -> DeviceFailure {
    DeviceFailure(
      .refused, "A callback or an effect has not returned for \(seconds.counted("second")).",
      hint: "Let it wait for nothing: no lock, no file, no loop without an end.")
  }

  /// Returns the failure of a device that has delivered nothing for `seconds` seconds.
  package static func stalled(
    _ configuration: DuplexConfiguration, seconds: Int
  ) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The device \(configuration.deviceNames) has delivered nothing for \(seconds.counted("second")).",
      hint: configuration.isServer
        ? "Check whether its sound server still runs, then start again."
        : "Check its cable and clock source, then start again.")
  }
}
