/// A limit on notices of one kind: at most one in a number of seconds is shown, so that they do not
/// fill the screen.
struct NoticeInterval {
  private let seconds: Double
  private var lastTime: Double?

  /// Allows one notice in `seconds`.
  init(seconds: Double) { self.seconds = seconds }

  /// Returns whether a notice at `time`, in seconds of a monotonic clock, is shown.
  mutating func takes(at time: Double) -> Bool {
    if let lastTime, time < lastTime + seconds { return false }
    lastTime = time
    return true
  }
}
