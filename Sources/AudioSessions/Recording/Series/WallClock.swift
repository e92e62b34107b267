import RealtimeAudio

/// The conversion from times of the device's clock to wall-clock time.
struct WallClock: Sendable {
  private let isVirtual: Bool

  /// The host's; or that of virtual time, which begins with 1970 so that every run is the same.
  init(isVirtual: Bool) {
    self.isVirtual = isVirtual
  }

  /// Nanoseconds since 1970 at `nanoseconds` of the device's clock. Asked anew each time, because
  /// the clock on the wall may be set.
  func time(at nanoseconds: Int) -> UInt64 {
    if isVirtual { return UInt64(max(0, nanoseconds)) }
    let ago = Int(clamping: HostClock.nanoseconds) &- nanoseconds
    return UInt64(max(0, Int(clamping: WallTime.nanoseconds) &- ago))
  }

  /// Nanoseconds since 1970 before any device runs.
  var start: UInt64 { isVirtual ? 0 : WallTime.nanoseconds }
}
