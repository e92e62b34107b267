import AudioDevices
import Foundation
import Testing

@testable import SimulatedDevices

struct DriftingTests {
  private static let pitch = 997.0 / 48000

  private func tone(_ frames: Int) -> [Float] {
    (0..<frames).map { Float(0.89 * sine(Self.pitch, at: Double($0))) }
  }

  private func configuredDrift(_ settings: String) throws -> Double {
    try SimulatedDeviceSpecification(parsing: "sim:" + settings).driftPPM
  }

  @Test(arguments: ["drift=100", "drift=-1000", "drift=30,batch=48,jitter=1", "drift=5000"])
  func `the input is resampled to the output's clock with the stated delay`(settings: String) throws
  {
    let run = try UnitRun(settings: settings, feeding: tone(7 * 48000), frames: 6 * 48000)
      .runOnTwoClocks()
    let pace = 1 + (try configuredDrift(settings)) * 1e-6
    let extra = run.configuration.resamplerDelayFrames
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 5 * 48000) {
      ($0 - extra) * pace
    }
    #expect((leads.map(abs).max() ?? 9) < 1)
    #expect(run.captureXruns == 0 && run.playbackXruns == 0 && run.lostFrames == 0)
    #expect(run.configuration.latencyFrames == 3 * 64 + 64)
  }

  @Test(arguments: ["drift=100", "drift=-800,batch=48,jitter=1"])
  func `with the input as master its frames are unchanged`(settings: String) throws {
    let fed = counter(5 * 48000)
    // The played signal is silent, so the wire adds nothing.
    let run = try UnitRun(settings: settings, master: .capture, feeding: fed, frames: 4 * 48000)
      .runOnTwoClocks()
    #expect(difference(run.heard, fed.prefix(4 * 48000)) == nil)
    #expect(run.captureXruns == 0 && run.playbackXruns == 0)
  }

  @Test(arguments: ClockMaster.allCases)
  func `played frames are captured after the stated latency`(master: ClockMaster)
    throws
  {
    let run = try UnitRun(
      settings: "drift=200,delay=300", master: master, playing: tone(6 * 48000), frames: 5 * 48000
    ).runOnTwoClocks()
    // The wire's frames are the output's; the latency is counted in the master's frames.
    let pace = master == .playback ? 1 : 1 / (1 + 200e-6)
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 4 * 48000) {
      $0 - run.configuration.latencyFrames - 300 / pace
    }
    #expect((leads.map(abs).max() ?? 9) < 0.1)
  }

  @Test(arguments: ClockMaster.allCases)
  func `the delay is the same after an underrun of the output`(master: ClockMaster) throws {
    let run = try UnitRun(
      settings: "drift=50,delay=300,dry-at=2", master: master, playing: tone(6 * 48000),
      frames: 5 * 48000
    ).runOnTwoClocks()
    #expect(run.playbackXruns == 1 && run.captureXruns == 0)
    #expect(run.drift?.relocks == 1)
    let pace = master == .playback ? 1 : 1 / (1 + 50e-6)
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 4 * 48000) {
      $0 - run.configuration.latencyFrames - 300 / pace
    }
    #expect((leads.map(abs).max() ?? 9) < 0.1)
  }

  @Test(arguments: ClockMaster.allCases)
  func `an overrun of the input does not stop the output`(master: ClockMaster) throws {
    let run = try UnitRun(
      settings: "drift=50,xrun-at=2", master: master, feeding: tone(6 * 48000), frames: 5 * 48000
    ).runOnTwoClocks()
    #expect(run.captureXruns == 1 && run.playbackXruns == 0)
    #expect(run.lostFrames == 480)
    #expect(run.events.map(\.kind) == [.captureXrun] && run.events.first?.frames == 480)
    let extra = master == .playback ? run.configuration.resamplerDelayFrames : 0
    let pace = master == .playback ? 1 + 50e-6 : 1
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 4 * 48000) {
      ($0 - extra) * pace
    }
    #expect((leads.map(abs).max() ?? 9) < 1)
  }

  @Test(arguments: [3, 3.0277, 3.0616, 3.077], [-5000, 5000])
  func `a sudden step of the clock rate does not interrupt the sound`(
    at second: Double, ppm: Int
  ) throws {
    let run = try UnitRun(
      settings: "batch=48,jitter=1,drift-at=\(second):\(ppm)", feeding: tone(7 * 48000),
      frames: 6 * 48000
    ).runOnTwoClocks()
    #expect(run.captureXruns == 0 && run.playbackXruns == 0 && run.lostFrames == 0)
    let peaks = stride(from: 48000, to: 6 * 48000, by: 96).map { start in
      run.heard[start..<start + 96].map(abs).max() ?? 0
    }
    // Two periods of a sine contain its peak, unless samples are missing.
    #expect((peaks.min() ?? 0) > 0.88)
    let later = try #require(run.drift)
    #expect(abs(later.ppm - Double(ppm)) < 30 && abs(later.errorFrames) < 1)
  }

  @Test func `the largest step of the clock rate fits in the longest period`() throws {
    let run = try UnitRun(
      settings: "drift=10000,drift-at=2:-10000", frames: 6 * 48000, period: 32_768
    ).runOnTwoClocks()
    #expect(run.failure == nil && run.heard.count == 6 * 48000)
  }

  @Test(arguments: [16, 24, 32, 40], ClockMaster.allCases)
  func `periods shorter than a batch are supported`(
    period: Int, master: ClockMaster
  ) throws {
    let run = try UnitRun(
      settings: "batch=48,jitter=1,drift=1", master: master, frames: 2 * 48000, period: period
    ).runOnTwoClocks()
    #expect(run.failure == nil && run.drift != nil)
    #expect(run.heard.count == 2 * 48000)
  }

  @Test(arguments: [44100, 48000, 96000], ClockMaster.allCases)
  func `different rates of input and output are converted with the same delay`(
    rate: Int, master: ClockMaster
  ) throws {
    let fed = (0..<6 * rate).map { Float(0.89 * sine(997 / Double(rate), at: Double($0))) }
    let run = try UnitRun(
      settings: "capture-rate=\(rate),drift=100", master: master, feeding: fed, frames: 5 * 40000
    ).runOnTwoClocks()
    let unitRate = master == .playback ? 48000 : rate
    #expect(run.configuration.sampleRate == unitRate)
    #expect(run.captureXruns == 0 && run.playbackXruns == 0)
    let extra = master == .playback ? run.configuration.resamplerDelayFrames : 0
    let pace = master == .playback ? 1 + 100e-6 : 1
    let leads = lead(
      run.heard, cyclesPerFrame: 997 / Double(unitRate), block: 480, from: 4 * 40000
    ) { ($0 - extra) * pace }
    #expect((leads.map(abs).max() ?? 9) < 0.2)
  }

  @Test(arguments: [1000.0, 10000])
  func `a sine stays pure while the clocks vary`(pitch: Double) throws {
    // A sinusoidal variation of 100 ppm with a period of 20 seconds.
    let steps = (0..<400).map { step in
      let seconds = Double(step) / 50
      return "drift-at=\(seconds):\(100 * sin(2 * .pi * seconds / 20))"
    }
    let cycles = pitch / 48000
    let fed = (0..<9 * 48000).map { Float(0.89 * sine(cycles, at: Double($0))) }
    let run = try UnitRun(settings: steps.joined(separator: ","), feeding: fed, frames: 8 * 48000)
      .runOnTwoClocks()
    let second = { impurity(Array(run.heard.dropFirst($0 * 48000).prefix(48000)), cycles) }
    #expect((4..<8).allSatisfy { second($0) < -110 })
  }
}
