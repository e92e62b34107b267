import AudioBasics
import AudioDevices
import RealtimeAudio

extension DevicePair {
  /// Opens two devices without hardware, as `specification` describes them, for `request`. The
  /// frames that `microphone` reads are captured as well: its frame m at captured frame m. Throws
  /// if the devices do not have the requested channels.
  public init(
    simulating specification: SimulatedDeviceSpecification, request: DuplexRequest,
    microphone: consuming SampleReader? = nil
  ) throws(DeviceFailure) {
    try request.validate()
    try specification.validate()
    let channels = try SimulatedChannels(specification, for: request)
    try channels.check(microphone?.channelCount)
    let period = request.periodFrames
    let buffer = request.simulatedBufferFrames
    func stream(_ name: String?, _ selection: ChannelSelection?, _ rate: Int) -> StreamConfiguration
    {
      channels.stream(
        name ?? specification.name, selection, rate, request,
        bufferFrames: (buffer + period - 1) / period * period)
    }
    let capture = stream(
      request.captureDevice, channels.capture,
      specification.captureRate ?? specification.sampleRate)
    let memory =
      Int(clamping: specification.delayFrames) + 3 * capture.bufferFrames
      + 2 * (period + Interpolator.fullHalfWidth)
    let output = SharedState(
      SimulatedOutput(
        specification,
        stream(request.playbackDevice, channels.playback, specification.sampleRate),
        remembering: memory))
    let input = SimulatedInput(
      specification, capture: capture, output: output.share(),
      microphone: CaptureSignal(
        loopback: LoopbackPath(
          specification, headroomFrames: request.headroom + period, periodFrames: period,
          channelCount: channels.deviceChannelCount,
          outputPerInput: Double(specification.sampleRate) / Double(capture.sampleRate)),
        feeder: microphone, noiseDBFS: specification.noiseDBFS,
        format: capture.format, channelCount: channels.deviceChannelCount,
        selection: capture.selection, periodFrames: period))
    self.init(
      capture: DeviceStream(input), playback: DeviceStream(SimulatedOutputStream(output: output)),
      time: DeviceTime(isVirtual: specification.clock == .free))
  }
}

extension DuplexRequest {
  /// The least number of frames in the buffer of a simulated device with its own clock.
  var simulatedBufferFrames: Int { max(8192, 4 * (periodFrames + headroom) + 512) }
}

extension DeviceStream {
  /// Opens an output without hardware beside another simulated device, as `specification` describes
  /// it, for `request`. Its clock runs faster than that device's clock by the specification's
  /// drift. Throws if it does not have the requested channels.
  public init(
    simulating specification: SimulatedDeviceSpecification, request: DuplexRequest
  ) throws(DeviceFailure) {
    let output = try SimulatedOutput(specification, request: request, remembering: 1)
    self.init(SimulatedOutputStream(output: SharedState(output)))
  }
}
