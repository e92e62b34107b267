import AudioDevices

/// The channels of a simulated device: their number, and those that a unit uses.
public struct SimulatedChannels: Sendable {
  /// The number of channels of the device, all of which are opened. The samples played on a channel
  /// are captured on the same channel.
  public let deviceChannelCount: Int
  /// The channels that the unit captures; nil if it captures all of them in order.
  let capture: ChannelSelection?
  /// The channels that the unit plays on; nil if it plays on all of them in order.
  let playback: ChannelSelection?

  /// Selects the channels that `request` gets of the device that `specification` describes: the
  /// named ones, otherwise the first channels, as many as requested, or at most two if no number is
  /// requested. Throws `.refused` if the device does not have them.
  public init(
    _ specification: SimulatedDeviceSpecification, for request: DuplexRequest
  ) throws(DeviceFailure) {
    let maximum = specification.channelCount
    let wanted = request.channelCount ?? min(2, maximum)
    deviceChannelCount = maximum
    guard (1...maximum).contains(wanted) else {
      throw DeviceFailure(
        .refused, "The simulated device has \(maximum.counted("channel")), not \(wanted).",
        hint: "Ask for 1 to \(maximum) channels, or give it more with sim:channels=\(wanted).")
    }
    for case let highest? in [request.captureChannels?.max(), request.playbackChannels?.max()]
    where highest > maximum {
      throw DeviceFailure(
        .refused, "The simulated device has no channel \(highest): it has \(maximum).",
        hint: "Name channels of 1 to \(maximum), or give it more with sim:channels=\(highest).")
    }
    let first = Array(1...wanted)
    capture = ChannelSelection(request.captureChannels ?? first, of: maximum)
    playback = ChannelSelection(request.playbackChannels ?? first, of: maximum)
  }

  /// Throws `.invalidRequest` if a feeder of the microphone has not as many channels as the device.
  func check(_ feederChannelCount: Int?) throws(DeviceFailure) {
    guard let feederChannelCount, feederChannelCount != deviceChannelCount else { return }
    throw DeviceFailure(
      .invalidRequest,
      "The simulated device has \(deviceChannelCount.counted("channel")), and its microphone is fed \(feederChannelCount).",
      hint: "Give it as many with sim:channels=\(feederChannelCount).")
  }

  /// Returns the configuration that one direction of the device `name` grants, with the channels of
  /// `selection`.
  func stream(
    _ name: String, _ selection: ChannelSelection?, _ sampleRate: Int, _ request: DuplexRequest,
    bufferFrames: Int
  ) -> StreamConfiguration {
    var stream = StreamConfiguration(
      device: name, sampleRate: sampleRate,
      channelCount: selection?.channels.count ?? deviceChannelCount,
      format: request.format ?? .floatLE, periodFrames: request.periodFrames,
      bufferFrames: bufferFrames)
    stream.selection = selection
    return stream
  }

  /// Returns the configuration that a device with these channels and one clock grants.
  func configuration(
    _ specification: SimulatedDeviceSpecification, _ request: DuplexRequest
  ) -> DuplexConfiguration {
    let period = request.periodFrames
    let ahead = period + request.headroom
    var configuration = DuplexConfiguration(
      sampleRate: specification.sampleRate, periodFrames: period, headroomFrames: request.headroom,
      capture: request.captureDevice.map {
        stream(
          $0, capture, specification.sampleRate, request, bufferFrames: max(8 * period, 4096))
      },
      playback: request.playbackDevice.map {
        stream(
          $0, playback, specification.sampleRate, request,
          bufferFrames: max(request.periods, (ahead + period - 1) / period) * period)
      })
    configuration.isLinked = configuration.capture != nil && configuration.playback != nil
    return configuration
  }
}

extension StreamConfiguration {
  /// The number of channels with which the device is opened.
  var deviceChannelCount: Int { selection?.deviceChannelCount ?? channelCount }
}
