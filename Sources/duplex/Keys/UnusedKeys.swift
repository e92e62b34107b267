/// Which of the keys that do nothing are told: one a second at most, so that text pasted by mistake does not
/// fill the screen.
struct UnusedKeys {
  private var lastTime: Double?

  /// Whether one that is pressed at `seconds`, on a clock that only goes forwards, is told.
  mutating func takes(at seconds: Double) -> Bool {
    if let lastTime, seconds < lastTime + 1 { return false }
    lastTime = seconds
    return true
  }
}
