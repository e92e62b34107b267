import AudioBasics
import AudioDevices
import RealtimeAudio

extension SimulatedDevice {
  /// The device that `specification` describes, opened as `request` asks: it captures if the
  /// request names an input, and plays if it names an output.
  ///
  /// The rate is the specification's, whatever the request says: compare
  /// `configuration.sampleRate`. What `microphone` reads is heard as well, at the device's rate and
  /// with as many channels as the device has (`SimulatedChannels`); frames not queued in time are silence, so on the
  /// free clock let enough be queued before.
  public init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest,
    microphone: consuming SampleReader? = nil
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let configuration = try Self.configuration(specification, request)
    let capture = configuration.capture
    let playback = configuration.playback
    let period = configuration.periodFrames
    let stream = capture ?? playback
    let channelCount = stream?.deviceChannelCount ?? 1
    let format = stream?.format ?? .floatLE
    let shape = SimulatedShape(
      hasCapture: capture != nil, hasPlayback: playback != nil,
      isRealTime: specification.clock == .real, periodFrames: period,
      headroomFrames: configuration.headroomFrames,
      captureBufferFrames: capture?.bufferFrames ?? 0,
      playbackBufferFrames: playback?.bufferFrames ?? 0)
    var effective = specification
    // The output's clock is the right one; alone it has nothing to drift against.
    if capture == nil { effective.driftPPM = 0 }
    let memory =
      Int(clamping: effective.delayFrames) + shape.captureBufferFrames + shape.playbackBufferFrames
      + 2 * (period + Interpolator.fullHalfWidth)
    self.init(
      configuration: configuration, shape: shape,
      clock: DeviceClock(
        isFree: effective.clock == .free, sampleRate: effective.sampleRate,
        pace: 1 + effective.driftPPM * 1e-6),
      playedHistory: PlayedHistoryRing(
        frameCount: playback == nil ? 1 : memory, channelCount: channelCount, periodFrames: period),
      microphone: CaptureSignal(
        loopback: LoopbackPath(
          effective, headroomFrames: configuration.headroomFrames, periodFrames: period,
          channelCount: channelCount),
        feeder: microphone, noiseDBFS: effective.noiseDBFS, format: format,
        channelCount: channelCount, selection: capture?.selection, periodFrames: period),
      room: DeviceBuffer(
        format: format, channelCount: channelCount, frameCount: period,
        lending: playback?.selection),
      scheduledFaults: ScheduledFaults(effective))
  }

  private static func configuration(
    _ specification: SimulatedDeviceSpecification, _ request: DuplexRequest
  ) throws(DeviceFailure) -> DuplexConfiguration {
    let channels = try SimulatedChannels(specification, for: request)
    let period = request.periodFrames
    let ahead = period + request.headroom
    func stream(
      _ name: String, _ selection: ChannelSelection?, bufferFrames: Int
    ) -> StreamConfiguration {
      StreamConfiguration(
        device: name, sampleRate: specification.sampleRate,
        channelCount: channels.deviceChannelCount, format: request.format ?? .floatLE,
        periodFrames: period, bufferFrames: bufferFrames
      ).using(selection, of: channels.deviceChannelCount)
    }
    var configuration = DuplexConfiguration(
      sampleRate: specification.sampleRate, periodFrames: period, headroomFrames: request.headroom,
      capture: request.captureDevice.map {
        stream($0, channels.capture, bufferFrames: max(8 * period, 4096))
      },
      playback: request.playbackDevice.map {
        stream(
          $0, channels.playback,
          bufferFrames: max(request.periods, (ahead + period - 1) / period) * period)
      })
    configuration.isLinked = configuration.capture != nil && configuration.playback != nil
    return configuration
  }
}

/// The part of a simulated device's configuration that the audio thread needs: numbers only.
struct SimulatedShape: BitwiseCopyable, Sendable {
  var hasCapture: Bool
  var hasPlayback: Bool
  var isRealTime: Bool
  var periodFrames: Int
  var headroomFrames: Int
  var captureBufferFrames: Int
  var playbackBufferFrames: Int
}

/// The channels of a simulated device: how many it has, and which of them a unit uses.
public struct SimulatedChannels: Sendable {
  /// Channels of the device as it is opened. What is played on one is heard on the same one.
  public let deviceChannelCount: Int
  /// Channels that the unit captures; nil where it captures all of them in order.
  let capture: ChannelSelection?
  /// Channels that the unit plays on; nil where it plays on all of them in order.
  let playback: ChannelSelection?

  /// What `request` gets of the device that `specification` describes: the channels it names, else
  /// the first of as many as it asks for, at most two where it asks for none. Throws `.refused` where
  /// the device does not have them.
  public init(
    _ specification: SimulatedDeviceSpecification, for request: DuplexRequest
  ) throws(DeviceFailure) {
    let most = specification.channelCount
    let wanted = request.channelCount ?? min(2, most)
    let isNamed = request.captureChannels != nil || request.playbackChannels != nil
    // One channel of a stereo device is both of them mixed, as a desktop's device has it.
    let opened = isNamed || most > 2 ? most : wanted
    deviceChannelCount = opened
    guard (1...most).contains(wanted) else {
      throw DeviceFailure(
        .refused, "The simulated device has \(most) channels, not \(wanted).",
        hint: "Ask for 1 to \(most) channels, or give it more with sim:channels=\(wanted).")
    }
    for case let highest? in [request.captureChannels?.max(), request.playbackChannels?.max()]
    where highest > most {
      throw DeviceFailure(
        .refused, "The simulated device has no channel \(highest): it has \(most).",
        hint: "Name channels of 1 to \(most), or give it more with sim:channels=\(highest).")
    }
    let first = Array(1...wanted)
    capture = ChannelSelection(request.captureChannels ?? first, of: opened)
    playback = ChannelSelection(request.playbackChannels ?? first, of: opened)
  }
}

extension StreamConfiguration {
  /// The same stream of a device with `deviceChannelCount` channels, of which `selection` is used.
  func using(_ selection: ChannelSelection?, of deviceChannelCount: Int) -> StreamConfiguration {
    var stream = self
    stream.channelCount = selection?.channels.count ?? deviceChannelCount
    stream.selection = selection
    return stream
  }

  /// Channels of the device as it is opened.
  var deviceChannelCount: Int { selection?.deviceChannelCount ?? channelCount }
}
