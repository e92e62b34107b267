/// How samples become the 16-bit numbers speexdsp takes, and samples again.
///
/// Rounding in and out adds noise of about -98 dBFS. Full scale is all that 16 bits hold, for by
/// that the echo canceller sees that a microphone was overdriven, and learns nothing meanwhile.
enum SixteenBits {
  /// The number of full scale.
  private static let fullScale: Float = 32768

  /// The nearest number; what lies beyond full scale is cut off.
  static func number(_ sample: Float) -> Int16 {
    Int16(clamping: max(-fullScale, min(fullScale - 1, (sample * fullScale).rounded())))
  }

  /// The sample of a number.
  static func sample(_ number: Int16) -> Float {
    Float(number) / fullScale
  }
}
