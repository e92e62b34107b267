import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// The sound devices that a program requests, and how they are used together.
///
/// A device name is any name that ALSA accepts (`default`, `hw:1,0`, `plughw:CARD=USB`), or `sim`,
/// with or without settings, for a simulated device that needs no hardware
/// (`sim:clock=free,noise=-20`).
///
/// ```swift
/// var selection = DeviceSelection(device: "sim:clock=free")
/// selection.request.periodFrames = 128
/// try selection.validate()
/// ```
public struct DeviceSelection: Sendable {
  /// The devices of the duplex unit, and the parameters requested of them.
  public var request: DuplexRequest
  /// Further outputs that play the same audio, each by its own clock.
  public var secondaryOutputs: [String] = []
  /// The device that is the clock master of two devices; nil leaves the choice to the unit: the
  /// input of a sound server, otherwise the output.
  public var master: ClockMaster?
  /// The priority of the audio thread.
  public var priority = ThreadPriority.realtime(70)
  /// Whether a sound server that uses a card is requested to release it.
  public var reservesCards = true

  /// Creates a selection of the devices of `request`.
  public init(_ request: DuplexRequest) {
    self.request = request
  }

  /// Creates a selection of one device for both directions.
  public init(device: String) {
    self.init(DuplexRequest(captureDevice: device, playbackDevice: device))
  }

  /// Creates a selection of an input, an output, or both; nil for a direction that is not used. Two
  /// devices with different clocks are synchronised by a resampler.
  public init(input: String?, output: String?) {
    self.init(DuplexRequest(captureDevice: input, playbackDevice: output))
  }

  /// The names of all devices, that of the input first.
  public var deviceNames: [String] {
    [request.captureDevice, request.playbackDevice].compactMap { $0 } + secondaryOutputs
  }

  /// Throws `.invalidRequest` if no devices could satisfy the request: sizes out of range, a real
  /// device together with a simulated one, an output that would play twice, or one without a name.
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

  /// Throws if the two directions differ: a simulated unit is one device, so both must have the
  /// same settings.
  private func validateSimulatedPair() throws(DeviceFailure) {
    guard let capture = request.captureDevice, let playback = request.playbackDevice else { return }
    let described = try SimulatedDeviceSpecification(parsing: capture)
    var other = try SimulatedDeviceSpecification(parsing: playback)
    // The same settings in another order mean the same device.
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
      guard !name.isEmpty else {
        throw DeviceFailure(
          .invalidRequest, "The name of a secondary output is empty.",
          hint: "Name a device, or leave it out.")
      }
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
