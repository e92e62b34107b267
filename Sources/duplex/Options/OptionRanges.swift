import AudioBasics

/// The ranges of options that have no range in the library.
enum OptionRanges {
  /// The numbers of times that a region is played.
  static let loops = 1...1_000_000_000
  /// The numbers of takes.
  static let takes = 1...1000
  /// The numbers of beats of a count-in.
  static let beats = 0...1000
  /// The tempos of a count-in in beats per minute.
  static let tempos = 10.0...1000
  /// The round trips in seconds. The maximum is longer than the delay of any room or device, and
  /// less than 2^23 frames at the highest rate.
  static let roundTripSeconds = 0.0...10
  /// The attenuations of a dimmed output in dB, which may have either sign.
  static let dims = 0.0...60
  /// The positions of a source between the left and the right of the output.
  static let pans = -1.0...1
  /// The names of the two ends of `pans`.
  static let pansText =
    "\(pans.lowerBound.boundText) (left) to \(pans.upperBound.boundText) (right)"
}
