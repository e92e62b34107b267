import RealtimeAudio

/// Whether the user wants long work on files, without sound, to end: SIGINT, SIGTERM or SIGHUP. While
/// there is one, these end nothing by themselves.
final class StopWish {
  private let signals = SignalWatch()
  private let start = HostClock.nanoseconds
  private let grace: UInt64

  /// What comes in the first `graceMilliseconds` is the signal that ended the sound before, once more:
  /// `timeout` and terminals may send one twice.
  init(graceMilliseconds: UInt64 = 300) {
    grace = graceMilliseconds * 1_000_000
  }

  /// Asks.
  func isThere() -> Bool {
    signals.wait(milliseconds: 0) == .signal(.end) && HostClock.nanoseconds >= start + grace
  }

  deinit {
    SignalWatch.release()
  }
}
