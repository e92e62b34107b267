import RealtimeAudio

/// A watchdog that checks whether the audio thread returns from its calls of a device.
struct AudioThreadWatchdog {
  private var turns = -1
  private var since = HostClock.nanoseconds
  private var isEnding = false
  /// The number of seconds for which a device may not respond.
  let limitSeconds: Int

  /// Creates a watchdog. Its limit is longer if it `reconnects`: a device that went away and is
  /// waited for may take longer to be opened again.
  init(reconnects: Bool) {
    limitSeconds = reconnects ? 20 : 6
  }

  /// Returns whether the thread, which has begun `turns` turns so far, began another one within the
  /// limit, which is 200 ms once an end was requested.
  mutating func isInTime(_ turns: Int, isEnding: Bool) -> Bool {
    let now = HostClock.nanoseconds
    if turns != self.turns || isEnding != self.isEnding { since = now }
    self.turns = turns
    self.isEnding = isEnding
    return now &- since < (isEnding ? 200_000_000 : UInt64(limitSeconds) * 1_000_000_000)
  }
}

/// The minimum interval between two calls of a watcher, so that a watcher that returns at once is
/// not called continuously.
struct WatchInterval {
  private var began: UInt64 = 0

  /// Notes that the watcher is about to be called.
  mutating func begin() { began = HostClock.nanoseconds }

  /// Rests after the watcher has returned, until 10 ms after it was called or until `isOver`
  /// returns true.
  func end(unless isOver: () -> Bool) {
    while HostClock.nanoseconds &- began < 10_000_000, !isOver() {
      HostClock.pause(milliseconds: 1)
    }
  }
}
