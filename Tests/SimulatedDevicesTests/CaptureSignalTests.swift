import AudioBasics
import AudioDevices
import Glibc
import RealtimeAudio
import SimulatedDevices
import Testing

struct CaptureSignalTests {
  @Test(arguments: [-20.0, -60, -90])
  func `noise has the requested power, is white, and differs between channels`(
    level: Double
  ) throws {
    let frames = 48000
    let result = try UnitRun(settings: "noise=\(level)", frames: frames).run()
    func product(_ one: [Float], _ other: [Float], lag: Int) -> Double {
      zip(one, other.dropFirst(lag)).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        / Double(frames)
    }
    let power = product(result.heard, result.heard, lag: 0)
    #expect(abs(10 * log10(power) - level) < 0.1)
    for lag in 1...8 {
      #expect(abs(product(result.heard, result.heard, lag: lag)) < 0.02 * power)
    }
    #expect(abs(product(result.heard, result.other, lag: 0)) < 0.02 * power)
    let mean = result.heard.reduce(0) { $0 + Double($1) } / Double(frames)
    #expect(abs(mean) < 0.02 * power.squareRoot())
  }

  @Test(arguments: ["", "delay=7.5,noise=-60", "drift=50", "xrun-at=0.05,xrun-frames=77"])
  func `a run repeats bit for bit`(settings: String) throws {
    let signal = counter(9600)
    let first = try UnitRun(settings: settings, playing: signal, frames: 9600, format: .s16LE).run()
    let second = try UnitRun(settings: settings, playing: signal, frames: 9600, format: .s16LE)
      .run()
    #expect(difference(first.heard, second.heard) == nil)
    #expect(difference(first.other, second.other) == nil)
    #expect(first.times == second.times && first.events == second.events)
  }

  /// Returns a feeder with `signal` queued, inverted on the second channel.
  private func feeder(_ signal: [Float]) -> SampleReader {
    reader(of: signal.flatMap { [$0, -$0] }, channelCount: 2)
  }

  @Test func `microphone samples are added to the loopback signal, frame by frame`() throws {
    let fed = counter(2000).map { $0 / 4 }
    let played = counter(2000).map { $0 / 2 }
    let result = try UnitRun(settings: "delay=5", playing: played, frames: 2000).run(
      feeder: feeder(fed))
    let wire = Array(repeating: 0, count: 133) + played.dropLast(133)
    let expected = zip(fed, wire).map { $0 + $1 }
    #expect(difference(result.heard, expected) == nil)
    #expect(difference(result.other, expected.map { -$0 }) == nil)
  }

  @Test func `microphone samples that are missing are silence`() throws {
    let fed = counter(1000)
    let result = try UnitRun(playing: [], frames: 2000).run(feeder: feeder(fed))
    #expect(difference(result.heard, fed + Array(repeating: 0, count: 1000)) == nil)
  }

  @Test func `the microphone continues while frames are lost`() throws {
    let fed = counter(9600)
    let result = try UnitRun(
      settings: "xrun-at=0.1,xrun-frames=1000", frames: 9600
    ).run(feeder: feeder(fed))
    #expect(difference(result.heard[..<4800], fed[..<4800]) == nil)
    #expect(difference(result.heard[5800...], fed[5800...]) == nil)
  }

  @Test func `without an output only microphone and noise are captured`() throws {
    let fed = counter(4800)
    let result = try UnitRun(
      settings: "delay=9", playing: fed, frames: 4800, directions: (true, false)
    ).run(feeder: feeder(fed))
    #expect(difference(result.heard, fed) == nil)
    let silent = try UnitRun(
      settings: "delay=0.5", playing: fed, frames: 4800, directions: (true, false)
    ).run()
    #expect(silent.heard.allSatisfy { $0 == 0 } && silent.playTimes.isEmpty)
  }
}
