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
    let isFed: Bool
    switch microphone {
    case .some: isFed = true
    case .none: isFed = false
    }
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
        feeder: microphone, hasFeeder: isFed, noiseDBFS: effective.noiseDBFS, format: format,
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
