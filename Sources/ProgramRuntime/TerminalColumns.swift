import CProgram

extension Unicode.Scalar {
  /// The number of columns in a terminal: two for an ideograph, none for an accent or an invisible
  /// character. Any thread but the audio thread.
  package var columns: Int { Int(cprogram_columns(value)) }
}
