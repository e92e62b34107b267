import AudioBasics
import AudioDevices
import Glibc
import RealtimeAudio
import SimulatedDevices

/// The result of a run of two devices with two clocks.
struct DriftingRun {
  /// One channel of the samples that the unit's input delivered, by timeline frame.
  var heard: [Float] = []
  var configuration: DuplexConfiguration
  var events: [TimelineEvent] = []
  var drift: DriftReading?
  var captureXruns = 0
  var playbackXruns = 0
  var lostFrames = 0
  var failure: DeviceFailure?
}

/// Runs two simulated devices with two clocks for `frames` frames in a real unit. `fed` is the
/// microphone's signal by captured frame, `playing` the played signal by timeline frame.
func runDrifting(
  _ settings: String, master: ClockMaster = .playback, feeding fed: [Float] = [],
  playing signal: [Float] = [], frames: Int, period: Int = 64, headroom: Int? = nil,
  quality: Int = 5, reconnects: Bool = false, stoppingAt stopFrame: Int? = nil
) throws -> DriftingRun {
  let name = "sim:clock=free,channels=1" + (settings.isEmpty ? "" : ",") + settings
  var request = DuplexRequest(captureDevice: name, playbackDevice: name)
  request.periodFrames = period
  request.headroomFrames = headroom
  request.channelCount = 1
  request.resamplerQuality = quality
  let pair: DevicePair
  let specification = try SimulatedDeviceSpecification(parsing: name)
  if fed.isEmpty {
    pair = try DevicePair(simulating: specification, request: request)
  } else {
    var writer = SampleWriter(frameCount: fed.count, channelCount: 1)
    let reader = writer.makeReader()
    var buffer = SampleBuffer(frameCount: fed.count, channelCount: 1)
    for index in 0..<fed.count { buffer[index] = fed[index] }
    _ = writer.write(buffer, frames: fed.count)
    pair = try DevicePair(simulating: specification, request: request, microphone: reader)
  }
  let device = AsynchronousPair(pair, request: request, master: master)
  let progress = UnitProgress()
  let writer = EventWriter<TimelineEvent>()
  var reader = writer.makeReader()
  var unit = DuplexUnit(
    device: device,
    callbacks: PlayAndCapture(
      signal: signal, frames: frames, periodFrames: period, channelCount: 1),
    progress: progress, events: writer, frameLimit: frames, reconnects: reconnects)
  var result = DriftingRun(configuration: unit.configuration)
  try unit.start()
  if let stopFrame {
    while progress.frames < stopFrame { _ = unit.cycle() }
    progress.requestStop()
  }
  result.failure = unit.run()
  unit.stop()
  while let event = reader.read() { result.events.append(event) }
  result.heard = unit.callbacks.heard
  result.drift = progress.drift
  result.captureXruns = progress.captureXruns
  result.playbackXruns = progress.playbackXruns
  result.lostFrames = progress.lostFrames
  return result
}

/// Returns the number of frames by which the sine in `heard` is early, in blocks of `block` frames.
/// `place` returns the expected position in the sine, in its own frames, of a frame.
func lead(
  _ heard: [Float], cyclesPerFrame: Double, block: Int, from first: Int,
  place: (Double) -> Double
) -> [Double] {
  stride(from: first, to: heard.count - block, by: block).map { start in
    var (inPhase, quadrature) = (0.0, 0.0)
    for frame in start..<start + block {
      let angle = 2 * .pi * cyclesPerFrame * place(Double(frame))
      inPhase += Double(heard[frame]) * sin(angle)
      quadrature += Double(heard[frame]) * cos(angle)
    }
    return atan2(quadrature, inPhase) / (2 * .pi * cyclesPerFrame)
  }
}
