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
  /// The poles of the high-pass: the sum of its denominator's coefficients, and the last of them.
  /// Its numerator is a second difference.
  let highPass: (sum: Double, last: Double)
  /// The second and third coefficients of the shelf's numerator and of its denominator.
  let shelfZeros: (Double, Double)
  let shelfPoles: (Double, Double)
  /// What the power of the sections' output is multiplied by.
  let powerGain: Double

  init(sampleRate: Int) {
    var k = tan(.pi * 1681.974450955533 / Double(sampleRate))
    var quality = 0.7071752369554196
    let high = pow(10, 3.999843853973347 / 20)
    let band = pow(high, 0.4996667741545416)
    var a0 = 1 + k / quality + k * k
    let first = high + band * k / quality + k * k
    shelfZeros = (2 * (k * k - high) / first, (high - band * k / quality + k * k) / first)
    shelfPoles = (2 * (k * k - 1) / a0, (1 - k / quality + k * k) / a0)
    powerGain = first / a0 * (first / a0)
    quality = 0.5003270373238773
    k = tan(.pi * 38.13547087602444 / Double(sampleRate))
    a0 = 1 + k / quality + k * k
    // 1 + 2 (k^2 - 1) / a0 + (1 - k / quality + k^2) / a0, without the difference of numbers that
    // are almost alike.
    highPass = (4 * k * k / a0, (1 - k / quality + k * k) / a0)
  }
}

/// What is summed up over the samples of two channels, side by side in one vector: their sums,
/// their powers and their K-weighted powers.
struct ChannelPair {
  /// Sums of all samples, and of their squares.
  private(set) var sums = SIMD2<Double>()
  private(set) var squares = SIMD2<Double>()
  /// The power of the filter's output since it was taken, before its gain.
  private var weighted = SIMD2<Double>()
  /// The high-pass: the last value of its second direct form, and that less the one before.
  private var (last, slope) = (SIMD2<Double>(), SIMD2<Double>())
  /// The shelf: the last two values of its second direct form.
  private var (shelf1, shelf2) = (SIMD2<Double>(), SIMD2<Double>())

  /// Adds `count` frames of the channels that begin at `first` and `second`, their samples `stride`
  /// apart.
  mutating func add(
    _ first: UnsafePointer<Float>, _ second: UnsafePointer<Float>, stride: Int, count: Int,
    _ filter: KWeighting
  ) {
    var pair = self
    if second == first + 1 {
      var samples = UnsafeRawPointer(first)
      for _ in 0..<count {
        pair.add(Self.two(samples), filter)
        samples += 4 &* stride
      }
    } else {
      var index = 0
      for _ in 0..<count {
        pair.add(SIMD2<Double>(Double(first[index]), Double(second[index])), filter)
        index &+= stride
      }
    }
    self = pair
  }

  /// The two samples that begin at `samples`.
  @inline(__always)
  private static func two(_ samples: UnsafeRawPointer) -> SIMD2<Double> {
    let two = samples.loadUnaligned(as: SIMD2<Float>.self)
    return SIMD2(Double(two[0]), Double(two[1]))
  }

  /// Adds a frame of both channels.
  @inline(__always)
  private mutating func add(_ sample: SIMD2<Double>, _ filter: KWeighting) {
    sums += sample
    squares += sample * sample
    // With the poles p1, p2: v0 = x - p1 v1 - p2 v2, of which v0 - v1 is kept.
    let step = sample - last * filter.highPass.sum + slope * filter.highPass.last
    let high = step - slope
    last += step
    slope = step
    let shelf0 = high - shelf1 * filter.shelfPoles.0 - shelf2 * filter.shelfPoles.1
    let result = shelf0 + shelf1 * filter.shelfZeros.0 + shelf2 * filter.shelfZeros.1
    weighted += result * result
    (shelf1, shelf2) = (shelf0, shelf1)
  }

  /// The K-weighted power since the last call, each channel by its weight.
  mutating func takeWeighted(_ weights: SIMD2<Double>, _ filter: KWeighting) -> Double {
    let power = (weighted * weights).sum() * filter.powerGain
    weighted = SIMD2<Double>()
    // Denormal numbers, which a state that dies away would reach, are slow; it is silent long
    // before.
    let threshold = SIMD2<Double>(repeating: 1e-30)
    func settled(_ value: SIMD2<Double>) -> SIMD2<Double> {
      value.replacing(with: SIMD2(), where: value .< threshold .& value .> -threshold)
    }
    (last, slope) = (settled(last), settled(slope))
    (shelf1, shelf2) = (settled(shelf1), settled(shelf2))
    return power
  }
}
