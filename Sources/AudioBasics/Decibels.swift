import Glibc

/// Levels of amplitudes in decibels: 20 log10 of the amplitude, full scale being 1.
/// Any thread but the audio thread, for which there is `RealtimeDecibels`.
public enum Decibels {
  /// The level of `amplitude` in dBFS; `floor` for silence and for what is no number. Of what is
  /// infinite it is that of the largest number.
  public static func level(_ amplitude: Float, floor: Double = -200) -> Double {
    guard amplitude > 0 else { return floor }
    return max(floor, 20 * log10(Double(min(amplitude, .greatestFiniteMagnitude))))
  }
}
