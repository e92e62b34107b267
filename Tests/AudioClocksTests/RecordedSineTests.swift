import Glibc
import TestSupport
import Testing

/// Tests of the analysis of a sine that was recorded with another clock.
@Suite struct RecordedSineTests {
  private static let frames = 12000

  /// Returns 250 ms at 48 kHz with a pitch that varies by `ppm` parts per million.
  private func samples(
    hertz: Double, ppm: Double = 0, adding: (Int) -> Double = { _ in 0 },
    level: (Int) -> Double = { _ in 1 }
  ) -> [Float] {
    let radians = 2 * .pi * hertz / 48000
    return (0..<Self.frames).map { frame in
      let place = Double(frame) / Double(Self.frames)
      // The integral of a rate that falls and rises again once.
      let sway = ppm * 1e-6 * Double(Self.frames) * sin(2 * .pi * place) / (2 * .pi)
      let sine = sin(radians * (Double(frame) + sway) + 0.7)
      return Float(0.891 * level(frame) * (sine + adding(frame)))
    }
  }

  private func rest(_ samples: [Float]) -> Double {
    WanderingSine(samples, degree: 12)?.fit.rest ?? 0
  }

  @Test(arguments: [1000.0, 10000])
  func `a slow change of pitch is not counted as an impurity`(hertz: Double) {
    #expect(rest(samples(hertz: hertz)) > 140)
    #expect(rest(samples(hertz: hertz, ppm: 10)) > 130)
  }

  @Test(arguments: [1000.0, 10000])
  func `a tone beside a sine is measured while the pitch changes`(hertz: Double) {
    let beside = 2 * Double.pi * (hertz + 200) / 48000
    let sounding = samples(hertz: hertz, ppm: 10) { 1e-5 * sin(beside * Double($0)) }
    #expect(abs(rest(sounding) - 100) < 0.5)
  }

  @Test(arguments: [1000.0, 10000])
  func `a slow change of level is counted as an impurity`(hertz: Double) {
    let sounding = samples(hertz: hertz) { _ in
      0
    } level: {
      1 + 1e-4 * sin(2 * .pi * 8 * Double($0) / 48000)
    }
    // Two sidebands, each with half the amplitude.
    #expect(abs(rest(sounding) - 83) < 0.5)
  }

  @Test(arguments: [1000.0, 10000])
  func `a lost frame is counted as a break and left out`(hertz: Double) {
    let whole = samples(hertz: hertz)
    var broken = whole
    broken.remove(at: 5000)
    broken.append(whole[0])
    var sine = RecordedSine(sampleRate: 48000)
    for window in [whole, broken, whole, whole] { sine.take(WanderingSine(window, degree: 12)) }
    #expect(sine.breaks == 1)
    #expect(sine.rest(atLeast: 0.99) > 140)
    #expect(abs((sine.hertz ?? 0) - hertz) < 0.01)
    #expect(abs((sine.level ?? 0) + 1) < 0.01)
  }

  @Test func `silence is counted as a break and contains no sine`() {
    var sine = RecordedSine(sampleRate: 48000)
    let silence = [Float](repeating: 0, count: Self.frames)
    sine.take(WanderingSine(silence, degree: 12))
    sine.take(WanderingSine(silence, degree: 12))
    #expect(sine.breaks == 1)
    #expect(sine.hertz == nil)
  }
}
