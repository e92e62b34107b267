import AudioBasics
import AudioClocks
import Glibc
import TestSupport
import Testing

@Suite struct RateConverterQualityTests {
  /// The figures of speexdsp 1.2.1 at a quality: the level of a sine of 1 kHz and of 15 kHz over
  /// the rest, and the gain at 0.85 and 0.9 of half the lower rate, in decibels.
  struct Reference: Sendable {
    let quality: Int
    let kilohertz: Double
    let treble: Double
    let gains: (Double, Double)

    init(_ quality: Int, _ kilohertz: Double, _ treble: Double, _ gains: (Double, Double)) {
      (self.quality, self.kilohertz, self.treble) = (quality, kilohertz, treble)
      self.gains = gains
    }
  }

  /// Returns the sine fitted to the output for a sine of `hertz`, away from both ends.
  private func passed(_ hertz: Double, from: Int, to: Int, quality: Int) throws -> SineFit {
    let input = FixedRateRun.sine(hertz, rate: from, frames: from / 8)
    var converter = try RateConverter(
      channelCount: 1, inputRate: from, outputRate: to, quality: quality)
    converter.skipLeadingSilence()
    let output = FixedRateRun.convert(input, with: &converter)
    let frames = to / 40..<to / 10
    return SineFit(
      Array(output[frames]), at: frames.map(Double.init), radians: 2 * .pi * hertz / Double(to))
  }

  private func holds(_ reference: Reference, from: Int, to: Int) throws {
    let quality = reference.quality
    let half = Double(min(from, to)) / 2
    let kilohertz = try passed(1000, from: from, to: to, quality: quality)
    let treble = try passed(15000, from: from, to: to, quality: quality)
    #expect(kilohertz.rest >= reference.kilohertz - 0.1)
    #expect(abs(kilohertz.amplitude - 0.5) < 0.001)
    #expect(treble.rest >= reference.treble - 0.1)
    for (part, gain) in [(0.85, reference.gains.0), (0.9, reference.gains.1)] {
      let edge = try passed(part * half, from: from, to: to, quality: quality)
      #expect(20 * log10(edge.amplitude / 0.5) >= gain - 0.02)
    }
  }

  @Test(arguments: [
    Reference(0, 65.0, 51.4, (-5.70, -7.55)), Reference(1, 76.4, 63.2, (-4.20, -7.56)),
    Reference(2, 76.8, 64.9, (-1.00, -4.77)), Reference(3, 104.4, 88.1, (-0.28, -3.45)),
    Reference(4, 104.0, 87.9, (0, -0.67)), Reference(5, 112.4, 111.5, (0, -0.47)),
    Reference(6, 113.2, 108.9, (0, -0.10)), Reference(7, 117.6, 111.0, (0, 0)),
    Reference(8, 124.0, 112.1, (0, 0)), Reference(9, 133.6, 131.9, (0, 0)),
    Reference(10, 137.0, 129.9, (0, 0)),
  ])
  func `conversion from 44.1 to 48 kHz is at least as good as that of speexdsp`(
    reference: Reference
  ) throws {
    try holds(reference, from: 44100, to: 48000)
  }

  @Test(arguments: [
    Reference(0, 73.0, 66.2, (-6.71, -8.59)), Reference(1, 72.2, 65.9, (-6.04, -12.33)),
    Reference(2, 84.3, 67.1, (-2.26, -9.43)), Reference(3, 104.6, 91.1, (-0.89, -7.05)),
    Reference(4, 97.2, 90.1, (-0.01, -2.18)), Reference(5, 114.8, 113.3, (0, -1.82)),
    Reference(6, 116.8, 113.3, (0, -0.21)), Reference(7, 120.3, 111.2, (0, 0)),
    Reference(8, 120.4, 114.7, (0, 0)), Reference(9, 131.4, 133.2, (0, 0)),
    Reference(10, 137.8, 134.9, (0, 0)),
  ])
  func `conversion from 48 to 44.1 kHz is at least as good as that of speexdsp`(
    reference: Reference
  ) throws {
    try holds(reference, from: 48000, to: 44100)
  }

  @Test(
    arguments: [(3, 80.0), (4, 80), (5, 97), (6, 97), (7, 97), (8, 97), (9, 114), (10, 114)],
    [(48000, 44100), (96000, 44100), (192_000, 48000), (48000, 8000), (44100, 8000)])
  func `frequencies above half the output rate are removed`(
    quality: (number: Int, decibels: Double), rates: (from: Int, to: Int)
  ) throws {
    let half = Double(rates.to) / 2
    let top = Double(rates.from) / 2
    for hertz in [1.05 * half, 1.3 * half, 0.97 * top] where hertz < top {
      let input = FixedRateRun.sine(hertz, rate: rates.from, frames: rates.from / 20)
      var converter = try RateConverter(
        channelCount: 1, inputRate: rates.from, outputRate: rates.to, quality: quality.number)
      converter.skipLeadingSilence()
      let output = FixedRateRun.convert(input, with: &converter)
      let loudest = output[rates.to / 40..<rates.to / 30].map { abs($0) }.max() ?? 1
      #expect(20 * log10(Double(loudest) / 0.5) < -quality.decibels)
    }
  }

  /// The same quality as the variable-rate converter, which adds at most -135 dB.
  @Test(arguments: 5...10, [(44100, 48000), (48000, 44100)])
  func `the default and higher qualities add less than -135 dB and are flat to 20 kHz`(
    quality: Int, rates: (from: Int, to: Int)
  ) throws {
    for hertz in [100.0, 997, 9973, 19990] {
      let sine = try passed(hertz, from: rates.from, to: rates.to, quality: quality)
      #expect(sine.rest > 135)
      #expect(abs(20 * log10(sine.amplitude / 0.5)) < 0.001)
    }
  }

  @Test(arguments: [
    (8000, 44100), (8000, 192_000), (44100, 96000), (48000, 192_000), (192_000, 48000),
    (96000, 44100), (22050, 48000),
  ])
  func `a sine stays pure at other rates`(from: Int, to: Int) throws {
    for (quality, decibels) in [(3, 90.0), (5, 130), (10, 130)] {
      let sine = try passed(997, from: from, to: to, quality: quality)
      #expect(sine.rest > decibels)
      #expect(abs(sine.amplitude - 0.5) < 0.001)
    }
  }
}
