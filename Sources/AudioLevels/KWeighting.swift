import Glibc

/// The K-weighting of ITU-R BS.1770-5, Annex 1, as one filter of fourth order: a shelf that lifts what lies
/// above 1.7 kHz by 4 dB, as a head does, and a high-pass at 38 Hz.
///
/// The standard gives coefficients for 48 kHz only. For other rates they are derived from the same analogue
/// filters by the bilinear transform; frequencies, gain and qualities after B. De Man ("Evaluation of
/// implementations of the EBU R128 loudness measurement", AES 145, 2018), which libebur128 uses too.
struct KWeighting {
  let b: (Double, Double, Double, Double, Double)
  let a: (Double, Double, Double, Double)

  init(sampleRate: Int) {
    var k = tan(.pi * 1681.974450955533 / Double(sampleRate))
    var quality = 0.7071752369554196
    let high = pow(10, 3.999843853973347 / 20)
    let band = pow(high, 0.4996667741545416)
    var a0 = 1 + k / quality + k * k
    let shelf = (
      (high + band * k / quality + k * k) / a0, 2 * (k * k - high) / a0,
      (high - band * k / quality + k * k) / a0
    )
    let shelfPoles = (2 * (k * k - 1) / a0, (1 - k / quality + k * k) / a0)
    quality = 0.5003270373238773
    k = tan(.pi * 38.13547087602444 / Double(sampleRate))
    a0 = 1 + k / quality + k * k
    let poles = (2 * (k * k - 1) / a0, (1 - k / quality + k * k) / a0)
    // The product of both; the high-pass has the zeros 1, -2, 1.
    b = (
      shelf.0, shelf.1 - 2 * shelf.0, shelf.2 - 2 * shelf.1 + shelf.0, shelf.1 - 2 * shelf.2,
      shelf.2
    )
    a = (
      shelfPoles.0 + poles.0, shelfPoles.1 + shelfPoles.0 * poles.0 + poles.1,
      shelfPoles.0 * poles.1 + shelfPoles.1 * poles.0, shelfPoles.1 * poles.1
    )
  }
}

/// What is summed up over the samples of two channels, side by side in one vector: their sums, their powers
/// and their K-weighted powers.
struct ChannelPair {
  /// Sums of all samples, and of their squares.
  private(set) var sums = SIMD2<Double>()
  private(set) var squares = SIMD2<Double>()
  /// The K-weighted power since it was taken.
  private var weighted = SIMD2<Double>()
  private var state = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())

  /// Adds `count` frames of the channels that begin at `first` and `second`, their samples `stride` apart.
  mutating func add(
    _ first: UnsafePointer<Float>, _ second: UnsafePointer<Float>, stride: Int, count: Int,
    _ filter: KWeighting
  ) {
    var (sums, squares, weighted) = (sums, squares, weighted)
    var (v1, v2, v3, v4) = state
    var index = 0
    for _ in 0..<count {
      let sample = SIMD2<Double>(Double(first[index]), Double(second[index]))
      index &+= stride
      sums += sample
      squares += sample * sample
      // The second direct form.
      let v0 = sample - v1 * filter.a.0 - v2 * filter.a.1 - v3 * filter.a.2 - v4 * filter.a.3
      let result =
        v0 * filter.b.0 + v1 * filter.b.1 + v2 * filter.b.2 + v3 * filter.b.3 + v4 * filter.b.4
      weighted += result * result
      (v1, v2, v3, v4) = (v0, v1, v2, v3)
    }
    (self.sums, self.squares, self.weighted) = (sums, squares, weighted)
    state = (v1, v2, v3, v4)
  }

  /// The K-weighted power since the last call, each channel by its weight.
  mutating func takeWeighted(_ weights: SIMD2<Double>) -> Double {
    let power = (weighted * weights).sum()
    weighted = SIMD2<Double>()
    // Denormal numbers, which a state that dies away would reach, are slow; it is silent long before.
    let threshold = SIMD2<Double>(repeating: 1e-30)
    func settled(_ value: SIMD2<Double>) -> SIMD2<Double> {
      value.replacing(with: SIMD2(), where: value .< threshold .& value .> -threshold)
    }
    state = (settled(state.0), settled(state.1), settled(state.2), settled(state.3))
    return power
  }
}
