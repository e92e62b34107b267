import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

/// Tests of two devices with two clocks behind a conversion to a unit's rate whose periods are not
/// a whole number of the devices' frames.
@Suite struct ResampledPairTests {
  /// Runs 3 s at `unitRate` on devices of `deviceRate`, whose microphone delivers a sine of 1 kHz; or
  /// plays the sine, which returns through the simulated wire.
  private func run(
    deviceRate: Int, unitRate: Int, period: Int, master: ClockMaster, settings: String,
    isPlayed: Bool = false
  ) throws -> UnitResult {
    let name = "sim:clock=free,channels=1,rate=\(deviceRate),\(settings)"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.sampleRate = unitRate
    request.periodFrames = period
    request.channelCount = 1
    func tone(_ frames: Int, at rate: Int) -> [Float] {
      (0..<frames).map { Float(0.5 * sine(1000 / Double(rate), at: Double($0))) }
    }
    let own = request.atRate(deviceRate)
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let pair =
      isPlayed
      ? try DevicePair(simulating: specification, request: own)
      : try DevicePair(
        simulating: specification, request: own,
        microphone: reader(of: tone(4 * deviceRate, at: deviceRate)))
    let device = try ResamplingDevice(
      AsynchronousPair(pair, request: own, master: master), request: request)
    let frames = 3 * unitRate
    let run = UnitRun(
      playing: isPlayed ? tone(frames, at: unitRate) : [], frames: frames, period: period,
      channels: 1)
    let result = try run.run(on: DuplexDevice(device))
    #expect(result.failure == nil)
    return result
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
