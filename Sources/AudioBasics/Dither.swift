// Audio thread.

/// Dither: adds noise to samples before they are rounded to 16 bits. The rounding error is then
/// noise instead of distortion, and tones below the least significant bit remain audible.
///
/// The noise has a triangular distribution from -1 to 1 step of the converter (TPDF), which makes
/// the mean and the power of the error independent of the signal: S. P. Lipshitz, R. A. Wannamaker
/// and J. Vanderkooy, "Quantization and Dither: A Theoretical Survey", Journal of the AES 40, 1992.
/// The random numbers come from four parallel instances of G. Marsaglia's xorshift32 ("Xorshift
/// RNGs", 2003). They are the same in each run.
public struct Dither: BitwiseCopyable, Sendable {
  /// Whether noise is also added to frames that 16 bits represent exactly.
  private let isUnconditional: Bool
  private var state = SIMD4<UInt32>(0x9E37_79B9, 0x243F_6A88, 0xB7E1_5162, 0x6A09_E667)

  /// Creates a dither that adds noise to all frames if `isUnconditional`; otherwise only in calls
  /// with a sample that 16 bits cannot represent exactly, so that 16-bit audio at unity gain, and
  /// silence, remain unchanged.
  public init(isUnconditional: Bool) {
    self.isUnconditional = isUnconditional
  }

  /// Adds noise to the first `frames` frames of `buffer`.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    requirement(
      frames >= 0 && frames <= buffer.frameCount,
      "The frames are outside of the buffer.")
    let count = frames &* buffer.channelCount
    guard isUnconditional || !Self.isWhole(buffer, count: count) else { return }
    var index = 0
    while index &+ 4 <= count {
      buffer.setFourSamples(buffer.fourSamples(at: index) + next(), at: index)
      index &+= 4
    }
    guard index < count else { return }
    let last = next()
    var lane = 0
    while index < count {
      buffer[index] += last[lane]
      lane &+= 1
      index &+= 1
    }
  }

  /// Returns whether 16 bits represent the first `count` samples exactly.
  @_noLocks
  private static func isWhole(_ buffer: borrowing SampleBuffer, count: Int) -> Bool {
    // Adding 1.5 * 2^23 to a `Float` rounds it to a whole number, because no bits of the
    // significand remain for a fraction.
    let noFractions = SIMD4<Float>(repeating: 12_582_912)
    var error = SIMD4<Float>(repeating: 0)
    var index = 0
    while index &+ 4 <= count {
      let steps = buffer.fourSamples(at: index) * 32768
      let fraction = steps - ((steps + noFractions) - noFractions)
      error += fraction * fraction
      index &+= 4
    }
    while index < count {
      let steps = buffer[index] * 32768
      let fraction = steps - ((steps + 12_582_912) - 12_582_912)
      error[0] += fraction * fraction
      index &+= 1
    }
    return error[0] + error[1] + error[2] + error[3] == 0
  }

  /// Returns four samples of noise.
  @_noLocks
  private mutating func next() -> SIMD4<Float> {
    let sum = uniform() + uniform() - 3
    return sum / 32768
  }

  /// Returns four evenly distributed numbers from 1 to 2.
  @_noLocks
  private mutating func uniform() -> SIMD4<Float> {
    state ^= state &<< 13
    state ^= state &>> 17
    state ^= state &<< 5
    return unsafeBitCast((state &>> 9) | 0x3F80_0000, to: SIMD4<Float>.self)
  }
}
