import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// The sound devices that a program asks for, and how they are used together.
///
/// Every name that ALSA knows may stand in it (`default`, `hw:1,0`, `plughw:CARD=USB`), and `sim`,
/// with or without settings, for a simulated device that needs no hardware
/// (`sim:clock=free,noise=-20`).
///
/// ```swift
/// var selection = DeviceSelection(device: "sim:clock=free")
/// selection.request.periodFrames = 128
/// try selection.validate()
/// ```
public struct DeviceSelection: Sendable {
  /// The devices of the duplex unit, and what is asked of them.
  public var request: DuplexRequest
  /// Further outputs that play the same, each by its own clock.
  public var secondaryOutputs: [String] = []
  /// Which of two devices gives the time; nil leaves it to the unit: the input of a sound server,
  /// else the output.
  public var master: ClockMaster?
  /// The priority of the audio thread.
  public var priority = ThreadPriority.realtime(70)
  /// Whether a sound server that uses a card is asked to release it.
  public var reservesCards = true

  /// The devices of `request`.
  public init(_ request: DuplexRequest) {
    self.request = request
  }

  /// One device for both directions.
  public init(device: String) {
    self.init(DuplexRequest(captureDevice: device, playbackDevice: device))
  }

  /// An input, an output, or both; nil for a direction that is not used. Two devices with clocks of
  /// their own are held together by a resampler.
  public init(input: String?, output: String?) {
    self.init(DuplexRequest(captureDevice: input, playbackDevice: output))
  }

  /// The names of all devices, the input's first.
  public var deviceNames: [String] {
    [request.captureDevice, request.playbackDevice].compactMap { $0 } + secondaryOutputs
  }

  /// Throws `.invalidRequest` where no devices could do what is asked: sizes out of range, a real
  /// device beside a simulated one, an output that would play twice.
  public func validate() throws(DeviceFailure) {
    try request.validate()
    try validateSecondaryOutputs()
    let simulated = deviceNames.filter(SimulatedDeviceSpecification.isSimulated)
    guard !simulated.isEmpty else { return }
    guard simulated.count == deviceNames.count else {
      throw DeviceFailure(
        .invalidRequest, "A simulated device and a real one cannot be used together.",
        hint: "Use sim for all of them, or for none.")
    }
    for name in simulated { _ = try SimulatedDeviceSpecification(parsing: name) }
    try validateSimulatedPair()
  }

  /// Whether all devices are simulated.
  public var isSimulated: Bool {
    deviceNames.first.map(SimulatedDeviceSpecification.isSimulated) ?? false
  }

  /// A simulated unit is one device: both directions say the same of it.
  private func validateSimulatedPair() throws(DeviceFailure) {
    guard let capture = request.captureDevice, let playback = request.playbackDevice else { return }
    let described = try SimulatedDeviceSpecification(parsing: capture)
    var other = try SimulatedDeviceSpecification(parsing: playback)
    // The same settings in another order are the same device.
    other.name = described.name
    guard described != other else { return }
    throw DeviceFailure(
      .invalidRequest,
      "Input and output must be one simulated device, and these are two: \(capture) and \(playback).",
      hint: "Name one for both directions; sim:drift=100 gives it two clocks.")
  }

  private func validateSecondaryOutputs() throws(DeviceFailure) {
    var playing = [request.playbackDevice].compactMap { $0 }.map(DeviceIdentity.of)
    for name in secondaryOutputs {
      let identity = DeviceIdentity.of(name)
      guard !playing.contains(identity) else {
        throw DeviceFailure(
          .invalidRequest, "The output \(name) would play the same twice.",
          hint: "Name each output once.")
      }
      playing.append(identity)
    }
  }
}
