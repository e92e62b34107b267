import AudioBasics
import AudioDevices
import RealtimeAudio

extension SimulatedPair {
  /// Two devices as `specification` describes them, opened as `request` asks. What `microphone`
  /// reads is heard as well: its frame m at captured frame m.
  public init(
    _ specification: SimulatedDeviceSpecification, request: DuplexRequest,
    microphone: consuming SampleReader? = nil
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let channelCount = try specification.channelCount(for: request)
    let period = request.periodFrames
    let buffer = max(8192, 4 * (period + request.headroom) + 512)
    func stream(_ name: String?, _ rate: Int) -> StreamConfiguration {
      StreamConfiguration(
        device: name ?? specification.name, sampleRate: rate,
        channelCount: channelCount, format: request.format ?? .floatLE, periodFrames: period,
        bufferFrames: (buffer + period - 1) / period * period)
    }
    let capture = stream(
      request.captureDevice, specification.captureRate ?? specification.sampleRate)
    let isFed: Bool
    switch microphone {
    case .some: isFed = true
    case .none: isFed = false
    }
    let memory =
      Int(clamping: specification.delayFrames) + 3 * capture.bufferFrames
      + 2 * (period + Interpolator.fullHalfWidth)
    self.init(
      specification, capture: capture,
      output: SimulatedOutput(
        specification, stream(request.playbackDevice, specification.sampleRate),
        remembering: memory),
      microphone: Microphone(
        wire: Wire(
          specification, headroomFrames: request.headroom + period, periodFrames: period,
          channelCount: channelCount,
          outputPerInput: Double(specification.sampleRate) / Double(capture.sampleRate)),
        feeder: microphone, hasFeeder: isFed, noiseDBFS: specification.noiseDBFS,
        format: capture.format, channelCount: channelCount, periodFrames: period))
  }
}
