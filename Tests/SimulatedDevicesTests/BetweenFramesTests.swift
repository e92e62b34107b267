import Glibc
import Testing

struct BetweenFramesTests {
  @Test(arguments: [0.5, 0.25, 10.001, 100.37, 100.999], [1000.0, 10000, 21000])
  func `a fractional delay is exact to a ten-thousandth of a frame`(
    delay: Double, frequency: Double
  ) throws {
    let frames = 6000
    let pitch = frequency / 48000
    let signal = (0..<frames).map { Float(sine(pitch, at: Double($0))) }
    let heard = try UnitRun(settings: "delay=\(delay)", playing: signal, frames: frames).run().heard
    // Fits a sine and a cosine to the settled part; whole cycles make them orthogonal.
    let window = 480..<5280
    var inPhase = 0.0
    var inQuadrature = 0.0
    for frame in window {
      let angle = 2 * .pi * pitch * (Double(frame) - 128 - delay)
      inPhase += Double(heard[frame]) * sin(angle) * 2 / Double(window.count)
      inQuadrature += Double(heard[frame]) * cos(angle) * 2 / Double(window.count)
    }
    #expect(abs(atan2(inQuadrature, inPhase) / (2 * .pi * pitch)) < 1e-4)
    #expect(abs(20 * log10(inPhase)) < 0.001)
    var residual = 0.0
    for frame in window {
      let exact = sine(pitch, at: Double(frame) - 128 - delay)
      residual = max(residual, abs(Double(heard[frame]) - exact))
    }
    #expect(20 * log10(residual) < -95)
  }

  @Test(arguments: [0.5, 3.25])
  func `with very little headroom a fractional delay is exact at low frequencies`(delay: Double)
    throws
  {
    let signal = (0..<4800).map { Float(sine(100 / 48000, at: Double($0))) }
    let result = try UnitRun(settings: "delay=\(delay)", playing: signal, frames: 4800, headroom: 1)
      .run()
    let exact = (0..<4800).map { sine(100 / 48000, at: Double($0) - 65 - delay) }
    #expect(distance(result.heard, exact, from: 200) < 0.001)
  }

  @Test(arguments: [1.0, 100, -100, 1000, -1000], [0, 12.5])
  func `a capture clock that drifts changes the pitch and loses no frames`(
    drift: Double, delay: Double
  ) throws {
    let frames = 48000
    let pitch = 5000.0 / 48000
    let signal = (0..<frames).map { Float(sine(pitch, at: Double($0))) }
    let result = try UnitRun(
      settings: "drift=\(drift),delay=\(delay)", playing: signal, frames: frames, headroom: 128,
      periods: 8
    ).run()
    let exact = (0..<frames).map {
      sine(pitch, at: Double($0) / (1 + drift * 1e-6) - 192 - delay)
    }
    #expect(result.failure == nil && result.lostFrames == 0 && result.events.isEmpty)
    #expect(20 * log10(distance(result.heard, exact, from: 400)) < -95)
  }

  @Test func `an output that falls behind drops periods and continues`() throws {
    let result = try UnitRun(settings: "drift=10000", playing: counter(48000), frames: 48000).run()
    #expect(result.failure == nil && result.frames == 48000)
    // The output callback runs in every cycle nevertheless.
    #expect(result.playTimes == result.times && result.times.count == 750)
    // One lost period in a hundred played ones.
    #expect(result.events.map(\.frame) == Array(stride(from: 0, to: 48000, by: 101 * 64)))
    #expect(result.events.allSatisfy { $0.frames == 64 })
    // Captured frames that could not be played are reported.
    #expect(!result.events.isEmpty)
    #expect(result.events.allSatisfy { $0.kind == .playbackXrun })
    #expect(result.lostFrames == result.events.reduce(0) { $0 + $1.frames })
  }

  @Test func `an output that runs ahead underruns and is filled again`() throws {
    let result = try UnitRun(settings: "drift=-10000", playing: counter(48000), frames: 48000).run()
    #expect(result.failure == nil && result.frames == 48000)
    #expect(result.events.allSatisfy { $0.kind == .playbackXrun })
    // 64 frames of headroom last for 6400 frames.
    #expect((6...8).contains(result.events.count))
    #expect(result.lostFrames == result.events.reduce(0) { $0 + $1.frames })
  }
}
