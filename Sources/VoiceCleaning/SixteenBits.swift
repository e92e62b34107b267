/// How samples become the 16-bit numbers speexdsp takes, and samples again.
///
/// Full scale is half of what 16 bits hold, because the preprocessor's output wraps round where it
/// does not fit, and spectral gains may raise a peak. Its noise, rounding in and out, is about
/// -92 dBFS.
enum SixteenBits {
  /// The number of full scale.
  static let fullScale: Float = 16384

  /// The nearest number; what lies beyond full scale is cut off.
  static func number(_ sample: Float) -> Int16 {
    Int16((max(-1, min(1, sample)) * fullScale).rounded())
  }

  /// The sample of a number that was rounded.
  static func sample(_ number: Int16) -> Float {
    Float(number) / fullScale
  }

  /// The sample of a number whose fraction was cut off, as the preprocessor does: in the middle of
  /// where it may have been.
  static func sample(cutOff number: Int16) -> Float {
    (Float(number) + Float(number.signum()) * 0.5) / fullScale
  }
}
