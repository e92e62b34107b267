/// A limit on notices of one kind: a person is told at most one in a number of seconds, so that
/// they do not fill the screen.
struct NoticeInterval {
  private let seconds: Double
  private var lastTime: Double?

  /// Tells one in `seconds`.
  init(seconds: Double) { self.seconds = seconds }

  /// Whether one that is due at `time`, in seconds of a clock that only goes forwards, is told.
  mutating func takes(at time: Double) -> Bool {
    if let lastTime, time < lastTime + seconds { return false }
    lastTime = time
    return true
  }
}
