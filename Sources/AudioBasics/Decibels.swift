import Glibc

/// Levels of amplitudes in decibels: 20 log10 of the amplitude, relative to a full scale of 1. Any
/// thread except the audio thread, which uses `RealtimeDecibels`.
public enum Decibels {
  /// Returns the level of `amplitude` in dBFS. Returns `floor` for silence and for not a number
  /// (NaN), and the level of the greatest finite `Float` for infinity.
  public static func level(_ amplitude: Float, floor: Double = -200) -> Double {
    guard amplitude > 0 else { return floor }
    return max(floor, 20 * log10(Double(min(amplitude, .greatestFiniteMagnitude))))
  }
}
