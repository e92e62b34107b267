import Glibc

/// Levels of amplitudes in decibels: 20 log10 of the amplitude, full scale being 1.
/// Any thread but the audio thread, for which there is `RealtimeDecibels`.
public enum Decibels {
  /// The level of `amplitude` in dBFS; `floor` for silence.
  public static func level(_ amplitude: Float, floor: Double = -200) -> Double {
    amplitude > 0 ? max(floor, 20 * log10(Double(amplitude))) : floor
  }
}
