import Glibc

/// Ratios of amplitudes in decibels: 20 log10 of the factor.
public enum Decibels {
  /// The factor an amplitude is multiplied by for a change of `decibels`. Exactly 1 at 0 dB.
  public static func gain(_ decibels: Double) -> Float {
    decibels == 0 ? 1 : Float(pow(10, decibels / 20))
  }

  /// The level of `amplitude` (full scale is 1) in dBFS; `floor` for silence.
  public static func level(_ amplitude: Float, floor: Double = -200) -> Double {
    amplitude > 0 ? max(floor, 20 * log10(Double(amplitude))) : floor
  }
}
