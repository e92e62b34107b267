import RealtimeAudio

/// Watches whether the audio thread comes back from what it asks of a device.
struct AudioThreadWatchdog {
  private var turns = -1
  private var since = HostClock.nanoseconds
  private var isEnding = false
  /// Seconds for which a device may not answer.
  let limitSeconds: Int

  /// A device that is waited for while it is away may take longer to be opened again.
  init(reconnects: Bool) {
    limitSeconds = reconnects ? 20 : 6
  }

  /// Whether the thread, which has begun that number of `turns`, began another within the limit:
  /// within a fifth of a second where an end is wanted.
  mutating func isInTime(_ turns: Int, isEnding: Bool) -> Bool {
    let now = HostClock.nanoseconds
    if turns != self.turns || isEnding != self.isEnding { since = now }
    self.turns = turns
    self.isEnding = isEnding
    return now &- since < (isEnding ? 200_000_000 : UInt64(limitSeconds) * 1_000_000_000)
  }
}

/// Keeps a watcher that returns at once from being called without a rest.
struct WatchInterval {
  private var began: UInt64 = 0

  /// The watcher is about to be called.
  mutating func begin() { began = HostClock.nanoseconds }

  /// It has returned: rests until ten milliseconds after it was called, or it `isOver`.
  func end(unless isOver: () -> Bool) {
    while HostClock.nanoseconds &- began < 10_000_000, !isOver() {
      HostClock.pause(milliseconds: 1)
    }
  }
}
