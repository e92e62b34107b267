/// Which of two devices gives the time. The frames of the other one are resampled to it.
public enum ClockMaster: String, Sendable, CaseIterable {
  /// The input: what is recorded is what its converter delivered, to the bit.
  case capture
  /// The output: what is played of files is what they hold, and cycles come as the ears need them.
  case playback
}
