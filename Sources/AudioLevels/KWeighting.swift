import CVectors
import Glibc

/// The K-weighting of ITU-R BS.1770-5, Annex 1, as a filter of fourth order: a shelf that lifts
/// what lies above 1.7 kHz by 4 dB, as a head does, and a high-pass at 38 Hz.
///
/// The standard gives coefficients for 48 kHz only. For other rates they are derived from the same
/// analogue filters by the bilinear transform; frequencies, gain and qualities after B. De Man
/// ("Evaluation of implementations of the EBU R128 loudness measurement", AES 145, 2018), which
/// libebur128 uses too.
///
/// Both are second-order sections one behind the other, so made that their first coefficient is 1;
/// by what that leaves out, powers are multiplied.
struct KWeighting {
  /// The high-pass and the shelf, in this order, the same for both channels of a pair.
  let sections: SectionWeights
  /// Factor for the power of the sections' output.
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

/// Two channels of a sound, side by side, as they come through a `KWeighting`.
struct WeightedPair {
  /// The power of the filter's output since it was taken, before its gain.
  private var power = SIMD2<Double>()
  private var early = SectionPair()
  private var late = SectionPair()

  /// Adds `count` frames of the channels that begin at `left` and `right`, their samples `stride`
  /// apart.
  mutating func add(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, stride: Int, count: Int,
    _ filter: KWeighting
  ) {
    withUnsafePointer(to: filter.sections) {
      vectors_filtered_power($0, &early, &late, &power, left, right, stride, count)
    }
  }

  /// The power since the last call, each channel by its weight.
  mutating func takePower(_ weights: SIMD2<Double>, _ filter: KWeighting) -> Double {
    let sum = (power * weights).sum() * filter.powerGain
    power = SIMD2<Double>()
    // Denormal numbers, which a state that dies away would reach, are slow; it is silent long
    // before.
    let threshold = SIMD2<Double>(repeating: 1e-30)
    func settle(_ pair: inout SectionPair) {
      pair.first.replace(with: 0, where: pair.first .< threshold .& pair.first .> -threshold)
      pair.second.replace(with: 0, where: pair.second .< threshold .& pair.second .> -threshold)
    }
    settle(&early)
    settle(&late)
    return sum
  }
}
