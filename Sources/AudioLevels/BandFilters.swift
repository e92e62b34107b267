// Audio thread.

import AudioBasics
import CVectors
import Glibc

/// Four second-order band-pass filters, side by side in one vector: state variable filters in the
/// trapezoidal form of A. Simper ("Linear Trapezoidal Integrated State Variable Filter", 2013).
package struct BandFilters: ~Copyable, Sendable {
  /// The reciprocal of the quality factor: a band is about two octaves wide.
  package static var damping: Float { @_noLocks get { 1.4 } }

  // Allocated separately: the loop over groups of eight uses its address without a copy.
  private nonisolated(unsafe) let weights: UnsafeMutablePointer<BandFilterWeights>

  /// The states of the filters, for the band-pass and the low-pass outputs; or coefficients for
  /// them.
  package typealias Pair = BandPair
  /// The sums of the filters' outputs.
  package typealias Sums = BandSums

  /// Creates filters centred on `centres`, in cycles per frame.
  package init(centres: SIMD4<Double>) {
    weights = .allocate(capacity: 1)
    weights.initialize(to: Self.make(centres: centres))
  }

  deinit { weights.deallocate() }

  private static func make(centres: SIMD4<Double>) -> BandFilterWeights {
    var (a1, a2, g) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    for band in 0..<4 {
      let exact = tan(Double.pi * centres[band])
      let share = 1 / (1 + exact * (exact + Double(damping)))
      g[band] = Float(exact)
      a1[band] = Float(share)
      a2[band] = Float(exact * share)
    }
    let (zero, one) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 1))
    // The columns of the matrix for one frame, and the contribution of a sample.
    let low = g * a1
    let columns = (
      Pair(band: 2 * a1 - one, low: 2 * low), Pair(band: -2 * a2, low: one - 2 * g * a2)
    )
    func after(_ frames: Int, _ state: Pair) -> Pair {
      (0..<frames).reduce(state) { state, _ in
        Pair(
          band: columns.0.band * state.band + columns.1.band * state.low,
          low: columns.0.low * state.band + columns.1.low * state.low)
      }
    }
    let input = Pair(band: 2 * a2, low: 2 * g * a2)
    let ofBand = after(7, Pair(band: one, low: zero))
    let ofLow = after(7, Pair(band: zero, low: one))
    return BandFilterWeights(
      of_same: Pair(band: ofBand.band, low: ofLow.low),
      of_other: Pair(band: ofLow.band, low: ofBand.low),
      of_sample: (
        after(6, input), after(5, input), after(4, input), after(3, input), after(2, input),
        after(1, input), input
      ),
      a1: a1, a2: a2, g: g, damping: SIMD4(repeating: damping))
  }

  /// The coefficients for one frame, for a loop that keeps them in registers.
  struct Coefficients: BitwiseCopyable {
    private let a1: SIMD4<Float>
    private let a2: SIMD4<Float>
    private let g: SIMD4<Float>

    @_noLocks
    fileprivate init(_ weights: borrowing BandFilterWeights) {
      (a1, a2, g) = (weights.a1, weights.a2, weights.g)
    }

    /// Filters one frame. Returns the band-pass output and the energy in the band. For a sine with
    /// the amplitude A after the band-pass, this energy is A^2 at every frame.
    @_noLocks @inline(__always)
    func step(_ state: inout Pair, _ sample: Float) -> (
      band: SIMD4<Float>, energy: SIMD4<Float>
    ) {
      let sample = SIMD4(repeating: sample)
      let band = a1 * state.band + a2 * (sample - state.low)
      let low = state.low + g * band
      state.band = band + band - state.band
      state.low = low + low - state.low
      let high = sample - SIMD4(repeating: BandFilters.damping) * band - low
      return (band, band * band - high * low)
    }
  }

  var coefficients: Coefficients {
    @_noLocks get { Coefficients(weights.pointee) }
  }

  /// Filters the first `count` samples of a buffer of one channel, in groups of eight as far as
  /// possible. Returns the sum of the energies as defined for `step`: eight times the energy at
  /// every eighth sample, plus the energies of the remaining samples.
  @_noLocks
  package func take(
    _ count: Int, of samples: borrowing SampleBuffer, _ state: inout Pair
  ) -> SIMD4<Float> {
    requirement(samples.channelCount == 1, "The buffer has another number of channels.")
    samples.requireFrames(from: 0, count)
    var energy = SIMD4<Float>(repeating: 0)
    vectors_filter_bands(weights, &state, &energy, samples.base, count &>> 3)
    energy *= 8
    var index = count & ~7
    if index < count {
      let coefficients = coefficients
      while index < count {
        energy += coefficients.step(&state, samples[index]).energy
        index &+= 1
      }
    }
    return energy
  }

  /// Filters the first `count` samples of a buffer of one channel, one by one. Also filters the
  /// first `betweenCount` samples of another buffer with separate states, which are added to the
  /// energy only.
  @_noLocks
  package func follow(
    _ count: Int, of samples: borrowing SampleBuffer, _ state: inout Pair,
    _ betweenCount: Int, between: borrowing SampleBuffer, _ stateBetween: inout Pair,
    _ sums: inout Sums
  ) {
    requirement(
      samples.channelCount == 1 && between.channelCount == 1,
      "The buffer has another number of channels.")
    samples.requireFrames(from: 0, count)
    between.requireFrames(from: 0, betweenCount)
    let both = min(count, betweenCount)
    vectors_follow_bands(
      weights, &state, &stateBetween, &sums, samples.base, between.base, both)
    let coefficients = coefficients
    var index = both
    while index < count {
      let output = coefficients.step(&state, samples[index])
      sums.energy += output.energy
      sums.products += output.band * sums.before
      sums.squares += output.band * output.band
      sums.before = output.band
      index &+= 1
    }
    index = both
    while index < betweenCount {
      sums.energy += coefficients.step(&stateBetween, between[index]).energy
      index &+= 1
    }
  }
}
