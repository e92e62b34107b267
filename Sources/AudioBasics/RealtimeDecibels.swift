// Audio thread.

/// Decibels where the C library's logarithms are not to be had.
public enum RealtimeDecibels {
  /// The level of a mean square in dB, to within 0.01 dB; -200 for silence.
  ///
  /// 10 log10 of the power: the exponent of the number, and for its fraction the series of
  /// ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...).
  @_noLocks
  public static func level(ofPower power: Float) -> Float {
    guard power > 1e-20 else { return -200 }
    guard power < 1e20 else { return 200 }
    let exponent = Int32(bitPattern: power.bitPattern >> 23) &- 127
    let fraction = Float(bitPattern: power.bitPattern & 0x007F_FFFF | 0x3F80_0000)
    // Around the root of two, where the series is short.
    let ratio = (fraction - 1.4142135) / (fraction + 1.4142135)
    let square = ratio * ratio
    let logarithm = 2 * ratio * (1 + square * (1 / 3 + square / 5)) * 1.4426950 + 0.5
    return (Float(exponent) + logarithm) * 3.0103000
  }
}
