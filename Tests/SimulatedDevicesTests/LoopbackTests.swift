import AudioBasics
import AudioDevices
import SimulatedDevices
import Testing

struct LoopbackTests {
  @Test(
    arguments: [0, 1, 63, 64, 200, 1234],
    [(16, 1), (16, 16), (64, 1), (64, 16), (64, 64), (100, 1), (100, 16), (100, 100)])
  func `played frames are captured after period, headroom and loopback delay`(
    delay: Int, shape: (period: Int, headroom: Int)
  ) throws {
    let frames = 6000
    let signal = counter(frames)
    let result = try UnitRun(
      settings: "delay=\(delay)", playing: signal, frames: frames, period: shape.period,
      headroom: shape.headroom
    ).run()
    let latency = shape.period + shape.headroom + delay
    #expect(result.failure == nil)
    #expect(result.frames == frames && result.events.isEmpty)
    let expected = Array(repeating: 0, count: latency) + signal.dropLast(latency)
    #expect(difference(result.heard, expected) == nil)
    #expect(difference(result.other, expected.map { -$0 }) == nil)
  }

  @Test(arguments: SampleFormat.allCases)
  func `every format keeps exactly its resolution`(format: SampleFormat) throws {
    let signal = counter(1000).map { $0 + 0.1 / 32768 }
    let result = try UnitRun(playing: signal, frames: 1000, format: format).run()
    let steps: Float
    switch format {
    case .s16LE, .s16BE: steps = 32768
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE: steps = 8_388_608
    case .s32LE, .s32BE: steps = 2_147_483_648
    case .floatLE, .floatBE: steps = 0x1p60
    }
    let expected = signal.dropLast(128).map { ($0 * steps).rounded() / steps }
    #expect(difference(result.heard.dropFirst(128), expected) == nil)
  }

  @Test(arguments: [1, 2, 6])
  func `every channel is looped back separately`(channels: Int) throws {
    let signal = counter(500)
    let result = try UnitRun(
      settings: "channels=8", playing: signal, frames: 500, channels: channels
    ).run()
    #expect(difference(result.heard.dropFirst(128), signal.dropLast(128)) == nil)
    if channels > 1 { #expect(difference(result.other, result.heard.map { -$0 }) == nil) }
  }

  @Test(arguments: [(-6.0, false), (0, true), (-20, true), (12, false)])
  func `gain and sign of the loopback are applied`(gain: Double, isInverted: Bool) throws {
    let signal = counter(1000).map { $0 / 8 }
    let result = try UnitRun(
      settings: "gain=\(gain),invert=\(isInverted ? 1 : 0)", playing: signal, frames: 1000
    ).run()
    let factor = Gain(decibels: gain).factor * (isInverted ? -1 : 1)
    let expected = signal.dropLast(128).map { $0 * factor }
    #expect(difference(result.heard.dropFirst(128), expected) == nil)
  }

  @Test func `only silence is captured if the delay is longer than the run`() throws {
    let result = try UnitRun(settings: "delay=48000", playing: counter(2000), frames: 2000).run()
    #expect(result.heard.allSatisfy { $0 == 0 })
  }

  @Test func `the last cycle is shortened to the frame limit`() throws {
    let result = try UnitRun(settings: "delay=3", playing: counter(1001), frames: 1001).run()
    #expect(result.frames == 1001)
    #expect(difference(result.heard.dropFirst(131), counter(1001).dropLast(131)) == nil)
  }

  @Test func `virtual time counts captured frames`() throws {
    let result = try UnitRun(settings: "rate=44100", frames: 44100, period: 100).run()
    #expect(result.times.last == 1_000_000_000)
    #expect(result.times[0] == 100 * 1_000_000_000 / 44100)
  }
}
