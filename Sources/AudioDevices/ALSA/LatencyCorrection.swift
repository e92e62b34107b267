// Audio thread.

/// The correction of the delay from input to output after a start. A linked start can go wrong
/// without an error, and an unlinked start always does.
struct LatencyCorrection: BitwiseCopyable {
  private var check: StartLatencyCheck
  /// The number of frames that the output must still drop (positive) or add as silence (negative).
  private(set) var frames = 0

  /// Creates the correction of a start after which the unit should hold `expected` frames at each
  /// wake-up.
  @_noLocks
  init(expected: Int) {
    check = StartLatencyCheck(expected: expected)
  }

  /// Whether the check of the start needs more fill levels.
  var isChecking: Bool {
    @_noLocks get { check.isOpen }
  }

  /// Records the number of frames that both directions hold at a wake-up.
  @_noLocks
  mutating func note(captured: Int, queued: Int) {
    frames &+= check.judge(captured: captured, queued: queued)
  }

  /// Notes that the output plays `count` frames of silence more than requested.
  @_noLocks
  mutating func noteSilence(_ count: Int) { frames &+= count }

  /// Returns the number of frames that the output must drop of the next `count` frames, which are
  /// then no longer due.
  @_noLocks
  mutating func takeDrop(of count: Int) -> Int {
    let dropped = max(0, min(frames, count))
    frames &-= dropped
    return dropped
  }
}

/// A check of the first periods after a start: whether both directions together hold the expected
/// number of frames.
struct StartLatencyCheck: BitwiseCopyable {
  /// The number of periods before the result.
  private static let periods = 8

  private let expected: Int
  private var seen = 0
  private var sum = 0

  /// Creates a check that expects `expected` frames in the unit at each wake-up.
  @_noLocks
  init(expected: Int) {
    self.expected = expected
  }

  /// Whether the check needs more fill levels.
  var isOpen: Bool {
    @_noLocks get { seen < Self.periods }
  }

  /// Records the number of frames that both directions hold at a wake-up. With the last period,
  /// returns the number of frames by which the output is too far behind (positive: drop that many)
  /// or too close (negative). Before that, returns 0.
  @_noLocks
  mutating func judge(captured: Int, queued: Int) -> Int {
    seen &+= 1
    sum &+= captured &+ queued
    guard seen == Self.periods else { return 0 }
    // Rounds to the nearest frame: pointers of devices that are not linked move at different times.
    let doubled = 2 &* sum / Self.periods &- 2 &* expected
    return (doubled &+ (doubled < 0 ? -1 : 1)) / 2
  }
}
