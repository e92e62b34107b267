import RealtimeAudio

/// The conversion from times of the device's clock to wall-clock time.
struct WallClock: Sendable {
  private let isVirtual: Bool

  /// Uses the host's clock, or virtual time, which begins in 1970 so that all runs are equal.
  init(isVirtual: Bool) {
    self.isVirtual = isVirtual
  }

  /// Returns nanoseconds since 1970 at `nanoseconds` of the device's clock. Computed from both
  /// clocks in each call, because the wall clock may be set.
  func time(at nanoseconds: Int) -> UInt64 {
    if isVirtual { return UInt64(max(0, nanoseconds)) }
    let ago = Int(clamping: HostClock.nanoseconds) &- nanoseconds
    return UInt64(max(0, Int(clamping: WallTime.nanoseconds) &- ago))
  }

  /// The nanoseconds since 1970 before any device runs.
  var start: UInt64 { isVirtual ? 0 : WallTime.nanoseconds }
}
