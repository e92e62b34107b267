// Audio thread.

import Glibc

/// Four band-pass filters of second order, side by side in one vector: state variable filters in
/// the trapezoidal form of A. Simper ("Linear Trapezoidal Integrated State Variable Filter", 2013).
struct BandFilters: BitwiseCopyable {
  /// The reciprocal of the quality factor: a band is about two octaves wide.
  static var damping: Float { @_noLocks get { 1.4 } }

  private let a1: SIMD4<Float>
  private let a2: SIMD4<Float>
  private let g: SIMD4<Float>
  /// What seven frames of silence make of the two states, which comes from the first one and which
  /// from the second.
  private let first: Pair
  private let second: Pair
  /// What each of seven frames adds to both states.
  private let inputs: (Pair, Pair, Pair, Pair, Pair, Pair, Pair)

  /// The states of the filters, those of their band-pass and of their low-pass; or what they are
  /// multiplied by.
  struct Pair: BitwiseCopyable {
    var band: SIMD4<Float>
    var low: SIMD4<Float>

    /// The states of filters before the first frame.
    static var zero: Pair {
      @_noLocks get { Pair(band: SIMD4(repeating: 0), low: SIMD4(repeating: 0)) }
    }
  }

  /// Filters around `centres`, in cycles per frame.
  init(centres: SIMD4<Double>) {
    var (a1, a2, g) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    for band in 0..<4 {
      let exact = tan(Double.pi * centres[band])
      let share = 1 / (1 + exact * (exact + Double(Self.damping)))
      g[band] = Float(exact)
      a1[band] = Float(share)
      a2[band] = Float(exact * share)
    }
    (self.a1, self.a2, self.g) = (a1, a2, g)
    let (zero, one) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 1))
    // The rows of the matrix of one frame, and what it adds of a sample.
    let low = g * a1
    let rows = (Pair(band: 2 * a1 - one, low: -2 * a2), Pair(band: 2 * low, low: one - 2 * g * a2))
    func advanced(_ state: Pair) -> Pair {
      Pair(
        band: rows.0.band * state.band + rows.0.low * state.low,
        low: rows.1.band * state.band + rows.1.low * state.low)
    }
    func after(_ frames: Int, _ state: Pair) -> Pair {
      (0..<frames).reduce(state) { state, _ in advanced(state) }
    }
    let input = Pair(band: 2 * a2, low: 2 * g * a2)
    inputs = (
      after(6, input), after(5, input), after(4, input), after(3, input), after(2, input),
      after(1, input), input
    )
    first = after(7, Pair(band: one, low: zero))
    second = after(7, Pair(band: zero, low: one))
  }

  /// Takes one frame. Answers with the band-pass, and with the energy of what is in the
  /// band: a sine's, whose amplitude behind the band-pass is A, is A^2 everywhere.
  @_noLocks @inline(__always)
  func step(_ state: inout Pair, _ sample: Float) -> (
    band: SIMD4<Float>, energy: SIMD4<Float>
  ) {
    let sample = SIMD4(repeating: sample)
    let band = a1 * state.band + a2 * (sample - state.low)
    let low = state.low + g * band
    state.band = band + band - state.band
    state.low = low + low - state.low
    let high = sample - SIMD4(repeating: Self.damping) * band - low
    return (band, band * band - high * low)
  }

  /// Takes the first seven of eight frames.
  @_noLocks @inline(__always)
  func skipSeven(
    _ state: inout Pair, _ early: (Float, Float, Float, Float),
    _ late: (Float, Float, Float, Float)
  ) {
    var next = Pair(
      band: first.band * state.band + second.band * state.low,
      low: first.low * state.band + second.low * state.low)
    next.add(inputs.0, times: early.0)
    next.add(inputs.1, times: early.1)
    next.add(inputs.2, times: early.2)
    next.add(inputs.3, times: early.3)
    next.add(inputs.4, times: late.0)
    next.add(inputs.5, times: late.1)
    next.add(inputs.6, times: late.2)
    state = next
  }
}

extension BandFilters.Pair {
  @_noLocks @inline(__always)
  fileprivate mutating func add(_ weights: BandFilters.Pair, times sample: Float) {
    let samples = SIMD4(repeating: sample)
    band += weights.band * samples
    low += weights.low * samples
  }
}
