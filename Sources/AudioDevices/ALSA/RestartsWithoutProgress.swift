// Audio thread.

/// The number of starts after which no frame moved. The plugin of a sound server that has ended
/// reports this as an xrun, again and again, and accepts every start.
struct RestartsWithoutProgress: BitwiseCopyable {
  private var count = 0
  private(set) var isFirst = true

  @_noLocks
  init() {}

  /// Counts a start.
  @_noLocks
  mutating func note() {
    count += 1
    isFirst = false
  }

  /// Resets the count, because a frame has moved.
  @_noLocks
  mutating func end() { count = 0 }

  /// Whether there were too many such starts for another attempt.
  var areTooMany: Bool {
    @_noLocks get { count > 3 }
  }
}
