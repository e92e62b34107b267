// Audio thread.

/// The number of failures of a device in succession. A device that fails again and again is lost,
/// whatever it reports.
struct ConsecutiveFailures: BitwiseCopyable {
  /// The number of failures that a device may have in succession.
  private static let maximum = 16

  private var count = 0

  @_noLocks
  init() {}

  /// Counts a failure. Returns whether there were too many in succession.
  @_noLocks
  mutating func note() -> Bool {
    count &+= 1
    return count > Self.maximum
  }

  /// Resets the count, because the device works.
  @_noLocks
  mutating func end() { count = 0 }
}
