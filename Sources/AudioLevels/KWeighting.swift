import CVectors
import Glibc

/// The K-weighting of ITU-R BS.1770-5, Annex 1, as a fourth-order filter: a shelving filter that
/// boosts frequencies above 1.7 kHz by 4 dB, which models the acoustic effect of the head, and a
/// high-pass at 38 Hz.
///
/// The standard gives coefficients for 48 kHz only. For other rates they are derived from the same
/// analogue filters by the bilinear transform; frequencies, gain and quality factors are from B. De
/// Man ("Evaluation of implementations of the EBU R128 loudness measurement", AES 145, 2018), which
/// libebur128 uses too.
///
/// Both filters are second-order sections in series, scaled so that their coefficient b0 is 1.
/// Powers are multiplied by `powerGain` to compensate for this.
struct KWeighting {
  /// The high-pass and the shelving filter, in this order, the same for both channels of a pair.
  let sections: SectionWeights
  /// The factor for the power of the sections' output.
  let powerGain: Double

  init(sampleRate: Int) {
    var k = tan(.pi * 1681.974450955533 / Double(sampleRate))
    var quality = 0.7071752369554196
    let high = pow(10, 3.999843853973347 / 20)
    let band = pow(high, 0.4996667741545416)
    var a0 = 1 + k / quality + k * k
    let first = high + band * k / quality + k * k
    let shelfZeros = (2 * (k * k - high) / first, (high - band * k / quality + k * k) / first)
    let shelfPoles = (2 * (k * k - 1) / a0, (1 - k / quality + k * k) / a0)
    powerGain = first / a0 * (first / a0)
    quality = 0.5003270373238773
    k = tan(.pi * 38.13547087602444 / Double(sampleRate))
    a0 = 1 + k / quality + k * k
    func pair(_ highPass: Double, _ shelf: Double) -> SectionPair {
      SectionPair(first: SIMD2(repeating: highPass), second: SIMD2(repeating: shelf))
    }
    sections = SectionWeights(
      b1: pair(-2, shelfZeros.0), b2: pair(1, shelfZeros.1),
      a1: pair(2 * (k * k - 1) / a0, shelfPoles.0),
      a2: pair((1 - k / quality + k * k) / a0, shelfPoles.1))
  }
}

/// Two channels, side by side, filtered by a `KWeighting`.
struct WeightedPair {
  /// The power of the filter's output since the last `takePower`, without `powerGain`.
  private var power = SIMD2<Double>()
  private var early = SectionPair()
  private var late = SectionPair()

  /// Adds `count` frames of the channels that begin at `left` and `right`, with samples that are
  /// `stride` apart.
  mutating func add(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, stride: Int, count: Int,
    _ filter: KWeighting
  ) {
    withUnsafePointer(to: filter.sections) {
      vectors_filtered_power($0, &early, &late, &power, left, right, stride, count)
    }
  }

  /// Returns the power since the last call, with each channel multiplied by its weight.
  mutating func takePower(_ weights: SIMD2<Double>, _ filter: KWeighting) -> Double {
    let sum = (power * weights).sum() * filter.powerGain
    power = SIMD2<Double>()
    // A decaying state would reach denormal numbers, which are slow to compute with. A state that
    // small is inaudible.
    let threshold = SIMD2<Double>(repeating: 1e-30)
    func flushDenormals(_ pair: inout SectionPair) {
      pair.first.replace(with: 0, where: pair.first .< threshold .& pair.first .> -threshold)
      pair.second.replace(with: 0, where: pair.second .< threshold .& pair.second .> -threshold)
    }
    flushDenormals(&early)
    flushDenormals(&late)
    return sum
  }
}
