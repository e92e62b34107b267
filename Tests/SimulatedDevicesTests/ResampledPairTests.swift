import AudioBasics
import AudioDevices
import Glibc
import RealtimeAudio
import SimulatedDevices
import Testing

/// Tests of two devices with two clocks behind a conversion to a unit's rate whose periods are not
/// a whole number of the devices' frames.
@Suite struct ResampledPairTests {
  private struct Result {
    var heard: [Float] = []
    var drift: DriftReading?
    var lostFrames = 0
    var xruns = 0
  }

  /// Runs 3 s at `unitRate` on devices of `deviceRate`, whose microphone delivers a sine of 1 kHz; or
  /// plays the sine, which returns through the simulated wire.
  private func run(
    deviceRate: Int, unitRate: Int, period: Int, master: ClockMaster, settings: String,
    isPlayed: Bool = false
  ) throws -> Result {
    let name = "sim:clock=free,channels=1,rate=\(deviceRate),\(settings)"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.sampleRate = unitRate
    request.periodFrames = period
    request.channelCount = 1
    let count = 4 * deviceRate
    var writer = SampleWriter(frameCount: count, channelCount: 1)
    let reader = writer.makeReader()
    var sine = SampleBuffer(frameCount: count, channelCount: 1)
    for frame in 0..<count {
      sine[frame] = Float(0.5 * sin(2 * .pi * 1000 * Double(frame) / Double(deviceRate)))
    }
    _ = writer.write(sine, frames: count)
    let own = request.atRate(deviceRate)
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let pair =
      isPlayed
      ? try DevicePair(simulating: specification, request: own)
      : try DevicePair(simulating: specification, request: own, microphone: reader)
    let device = try ResamplingDevice(
      AsynchronousPair(pair, request: own, master: master), request: request)
    let progress = UnitProgress()
    let frames = 3 * unitRate
    let played =
      isPlayed
      ? (0..<frames).map { Float(0.5 * sin(2 * .pi * 1000 * Double($0) / Double(unitRate))) } : []
    var unit = DuplexUnit(
      device: device,
      callbacks: PlayAndCapture(
        signal: played, frames: frames, periodFrames: period, channelCount: 1),
      progress: progress, frameLimit: frames)
    try unit.start()
    let failure = unit.run()
    unit.stop()
    #expect(failure == nil)
    return Result(
      heard: unit.callbacks.heard, drift: progress.drift, lostFrames: progress.lostFrames,
      xruns: progress.captureXruns + progress.playbackXruns)
  }

  @Test(
    arguments: [
      (44100, 48000, 256), (44100, 96000, 256), (48000, 44100, 256), (32000, 48000, 256),
      (16000, 48000, 256), (44100, 48000, 1024), (44100, 48000, 320),
    ], [ClockMaster.playback, .capture])
  func `a sine keeps its phase`(
    rates: (device: Int, unit: Int, period: Int), master: ClockMaster
  ) throws {
    let result = try run(
      deviceRate: rates.device, unitRate: rates.unit, period: rates.period, master: master,
      settings: "batch=48")
    #expect(result.lostFrames == 0 && result.xruns == 0)
    let drift = try #require(result.drift)
    #expect(abs(drift.errorFrames) < 0.1 && drift.relocks == 0)
    let lead = lead(
      result.heard, cyclesPerFrame: 1000 / Double(rates.unit), block: rates.unit / 100,
      from: rates.unit
    ) { $0 }
    let spread = try #require(lead.max()) - (try #require(lead.min()))
    #expect(spread < 0.1)
  }

  @Test(arguments: [ClockMaster.playback, .capture])
  func `a played sine returns without a jump`(master: ClockMaster) throws {
    let result = try run(
      deviceRate: 44100, unitRate: 48000, period: 256, master: master, settings: "batch=48",
      isPlayed: true)
    #expect(result.lostFrames == 0 && result.xruns == 0)
    let lead = lead(result.heard, cyclesPerFrame: 1.0 / 48, block: 480, from: 48000) { $0 }
    let spread = try #require(lead.max()) - (try #require(lead.min()))
    #expect(spread < 0.1)
    #expect(result.heard.suffix(480).map { abs($0) }.max() ?? 0 > 0.49)
  }

  @Test func `two drifting clocks are followed`() throws {
    let result = try run(
      deviceRate: 44100, unitRate: 48000, period: 256, master: .playback,
      settings: "batch=48,jitter=1,drift=20")
    #expect(result.lostFrames == 0 && result.xruns == 0)
    let drift = try #require(result.drift)
    #expect(abs(drift.errorFrames) < 1 && abs(drift.ppm - 20) < 5 && drift.relocks == 0)
  }
}
