import AudioBasics
import Glibc
import TestSupport
import Testing

@testable import AudioClocks

/// Tests of the distortion and the attenuation of a variable-rate converter.
@Suite struct VariableRateQualityTests {
  /// Follows another device's clock that varies by 100 ppm.
  private func wander(_ frame: Int, _ converter: inout VariableRateConverter) {
    guard frame % 64 == 0 else { return }
    converter.setRatio(1 + 1e-4 * sin(Double(frame) / 300), over: 64)
  }

  private func run(
    hertz: Double, rate: Double = 48000, ratio: Double, count: Int = 4000,
    quality: ConversionQuality = .standard, wanders: Bool = false
  ) -> (gain: Double, rest: Double, power: Double) {
    let radians = 2 * .pi * hertz / rate
    let input = testSine(radians, frames: Int(clamping: Double(count) * ratio) + 2000)
    var converter = VariableRateConverter(
      channelCount: 1, maximumInputPerOutput: max(1.01, ratio), quality: quality)
    converter.setRatio(ratio)
    let run = VariableRateRun(input, count: count, with: &converter) { frame, converter in
      if wanders { wander(frame, &converter) }
    }
    guard run.samples.count == count else { return (-.infinity, -.infinity, .infinity) }
    let fit = SineFit(run.samples, at: run.positions, radians: radians)
    let power = run.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(count)
    return (
      20 * log10(fit.amplitude / testLevel), fit.rest,
      10 * log10(power / (testLevel * testLevel / 2))
    )
  }

  @Test(arguments: [
    (ConversionQuality.quick, 1000.0, 118.0), (.quick, 10000, 115), (.quick, 20000, 100),
    (.standard, 1000, 145), (.standard, 10000, 145), (.standard, 20000, 135),
    (.fine, 1000, 145), (.fine, 10000, 145), (.fine, 20000, 140),
  ])
  func `a sine stays pure while the ratio varies`(
    quality: ConversionQuality, hertz: Double, decibels: Double
  ) {
    let (gain, rest, _) = run(hertz: hertz, ratio: 1, quality: quality, wanders: true)
    #expect(rest > decibels)
    #expect(abs(gain) < 0.001)
  }

  @Test(arguments: ConversionQuality.allCases)
  func `frequencies below the slope of the filter pass`(quality: ConversionQuality) {
    let edge: [ConversionQuality: Double] = [.quick: 0.86, .standard: 0.94, .fine: 0.96]
    for part in [0.01, 0.5, 0.833, edge[quality] ?? 1] {
      let (gain, rest, _) = run(
        hertz: part * 24000, ratio: 1.0001, count: 1500, quality: quality)
      #expect(abs(gain) < 0.1)
      #expect(rest > quality.attenuation)
    }
  }

  @Test(arguments: [1000.0, 10000, 17640, 20000])
  func `a sine stays pure from 44.1 to 48 kHz`(hertz: Double) {
    let (gain, rest, _) = run(hertz: hertz, rate: 44100, ratio: 44100.0 / 48000)
    #expect(rest > 120)
    #expect(abs(gain) < 0.1)
  }

  @Test(arguments: [0.25, 0.5, 48000.0 / 44100, 1.5, 2, 4])
  func `a sine stays pure at other speeds`(ratio: Double) {
    for part in [0.05, 0.5, 0.88] {
      let (gain, rest, _) = run(
        hertz: part * 24000 / max(1, ratio), ratio: ratio, count: 1500)
      #expect(rest > 115)
      #expect(abs(gain) < 0.1)
    }
  }

  @Test(arguments: [48000.0 / 44100, 1.5, 2, 4])
  func `frequencies above half the output rate are removed`(ratio: Double) {
    for part in [1.005, 1.02, 1.3, 1.9] where part < ratio {
      let (_, _, power) = run(hertz: part * 24000 / ratio, ratio: ratio, count: 1500)
      #expect(power < -110)
    }
  }

  @Test func `a slowed tone just below half the rate creates no image`() {
    let (_, rest, _) = run(hertz: 23000, ratio: 0.25, count: 3000)
    #expect(rest > 100)
  }

  @Test(arguments: [(1.0, 1.01), (1, 0.6), (0.9, 1.3), (1, 4), (4, 0.25)])
  func `a ramp of the ratio does not click`(from: Double, to: Double) {
    let radians = 2 * Double.pi * 1000 / 48000
    let input = testSine(radians, frames: 12000)
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 4)
    converter.setRatio(from)
    let run = VariableRateRun(input, count: 2000, with: &converter) { frame, converter in
      if frame == 300 { converter.setRatio(to, over: 1000) }
    }
    #expect(run.samples.count == 2000)
    #expect(converter.inputPerOutput == to)
    // The exact sine is known: the largest deviation from it is the audible error.
    let worst = zip(run.samples, run.positions).reduce(0.0) { worst, frame in
      max(worst, abs(Double(frame.0) - testLevel * sin(radians * frame.1)))
    }
    #expect(20 * log10(worst / testLevel) < -104)
  }

  @Test func `the window is the sum of its cosines`() {
    guard case .cosines(let amplitudes) = ConversionQuality.standard.window else {
      Issue.record("The standard window has no cosines.")
      return
    }
    for point in 0...1000 {
      let part = Double(point) / 1000
      let sum = amplitudes.enumerated().reduce(0) { sum, next in
        sum + next.element * cos(Double.pi * Double(next.offset) * part)
      }
      let window = ConversionQuality.standard.window.value(at: part)
      #expect(abs(window - sum) < 1e-14)
    }
    #expect(SincWindow.cosines([]).value(at: 0.5) == 0)
  }

  @Test func `the treble fades gradually while the speed rises`() {
    let radians = 2 * Double.pi * 22500 / 48000
    let input = testSine(radians, frames: 5000)
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 4)
    let run = VariableRateRun(input, count: 2500, with: &converter) { frame, converter in
      if frame == 300 { converter.setRatio(1.1, over: 2000) }
    }
    #expect(run.samples.count == 2500)
    let levels = stride(from: 0, to: 2500, by: 50).map { first in
      let stretch = first..<first + 50
      return SineFit(
        Array(run.samples[stretch]), at: Array(run.positions[stretch]), radians: radians
      ).amplitude
    }
    #expect(abs(levels[0] - testLevel) < 0.01)
    #expect(levels[49] < 0.01)
    #expect(zip(levels, levels.dropFirst()).allSatisfy { abs($0 - $1) < 0.2 })
  }
}
