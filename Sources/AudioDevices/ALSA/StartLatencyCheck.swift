// Audio thread.

/// Watches the first periods after a start: do both directions together hold as many frames as
/// they should? A linked start can go wrong without an error, and an unlinked one always does.
struct StartLatencyCheck: BitwiseCopyable {
  /// Periods looked at before a verdict.
  private static let periods = 8

  private let expected: Int
  private var seen = 0
  private var sum = 0

  /// `expected` frames should be on their way through the unit at each wake-up.
  @_noLocks
  init(expected: Int) {
    self.expected = expected
  }

  /// Whether it still wants to be shown fills.
  var isOpen: Bool {
    @_noLocks get { seen < Self.periods }
  }

  /// Takes what both directions hold at a wake-up. With the last period it answers by how many
  /// frames the output is too far behind (positive: drop that many) or too close (negative).
  @_noLocks
  mutating func judge(captured: Int, queued: Int) -> Int {
    seen &+= 1
    sum &+= captured &+ queued
    guard seen == Self.periods else { return 0 }
    // To the nearest frame: pointers of devices that are not linked move at different times.
    let doubled = 2 &* sum / Self.periods &- 2 &* expected
    return (doubled &+ (doubled < 0 ? -1 : 1)) / 2
  }
}
