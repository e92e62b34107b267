// Audio thread.

/// Decibels without the C library's logarithms, which are not marked for the audio thread. Any
/// thread, including the audio thread.
public enum RealtimeDecibels {
  /// Returns the level of a mean square in dB, to within 0.01 dB; -200 for silence.
  ///
  /// The level is 10 log10 of the power. It is computed from the exponent of the number and, for
  /// its fraction, the series of ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...).
  @_noLocks
  public static func level(ofPower power: Float) -> Float {
    levels(ofPowers: SIMD4(repeating: power))[0]
  }

  /// Returns the levels of four mean squares in dB, to within 0.01 dB; -200 for silence and for not
  /// a number (NaN).
  @_noLocks
  public static func levels(ofPowers powers: SIMD4<Float>) -> SIMD4<Float> {
    // With this order of operands a maximum is one instruction, and NaN becomes the least power.
    let minimum = SIMD4<Float>(repeating: 1e-20)
    let audible = minimum.replacing(with: powers, where: powers .> minimum)
    let maximum = SIMD4<Float>(repeating: 1e20)
    let bounded = maximum.replacing(with: audible, where: audible .< maximum)
    let bits = unsafeBitCast(bounded, to: SIMD4<Int32>.self)
    let exponents = (bits &>> 23) &- 127
    let fractionBits = bits & SIMD4(repeating: 0x007F_FFFF) | SIMD4(repeating: 0x3F80_0000)
    let fractions = unsafeBitCast(fractionBits, to: SIMD4<Float>.self)
    // The series is evaluated around the square root of two, where it converges with few terms.
    let root = SIMD4<Float>(repeating: 1.4142135)
    let ratios = (fractions - root) / (fractions + root)
    let squares = ratios * ratios
    let series: SIMD4<Float> = (squares * Float(0.2) + Float(1) / 3) * squares + Float(1)
    let octaves = SIMD4<Float>(exponents) + ratios * series * Float(2.8853900)
    let levels = octaves * Float(3.0103000) + Float(1.5051500)
    let silence = SIMD4<Float>(repeating: -200)
    return silence.replacing(with: levels, where: powers .> minimum)
  }
}
