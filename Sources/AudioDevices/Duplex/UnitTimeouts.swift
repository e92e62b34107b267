// Audio thread.

/// The time since a unit's device last moved a frame, and the limits of that time.
///
/// A stalled device does not always block: it may also be ready, or be recovered, again and again
/// without a frame.
struct UnitTimeouts: BitwiseCopyable {
  /// The consequence of a turn in which no frame moved.
  enum Verdict: BitwiseCopyable {
    /// The unit goes on.
    case tolerated
    /// The device has moved no frame for too long.
    case stalled
    /// A stop was requested, and the unit no longer waits for frames.
    case stopped
  }

  /// The time in nanoseconds for which a requested stop waits for a device that does not advance.
  private static var stopTimeout: UInt64 { @_noLocks get { 200_000_000 } }
  /// The time in nanoseconds for which a device may be ready, or be recovered, without moving a
  /// frame.
  static var stallTimeout: UInt64 { @_noLocks get { 5_000_000_000 } }

  /// The time in nanoseconds for which no frame may move. It is longer for two devices with two
  /// clocks: they give up one device that stalls for `stallTimeout`, and continue with the other.
  private let stallLimit: UInt64
  /// The time at which the timeline last advanced, on the device's clock, and the number of turns
  /// since.
  private var lastReady: UInt64 = 0
  private var idleTurns = 0
  /// The time of the first recovery since the last cycle that moved frames; nil if there was none.
  private var unrecoveredSince: UInt64?

  /// Creates the timeouts of a device with two clocks, or one.
  init(hasTwoClocks: Bool) {
    stallLimit = Self.stallTimeout &+ (hasTwoClocks ? 500_000_000 : 0)
  }

  /// Restarts the time because the device was started or searched for.
  @_noLocks
  mutating func restart(at now: UInt64) { lastReady = now }

  /// Notes a cycle whose period was ready at `nanoseconds`.
  @_noLocks
  mutating func noteCycle(readyAt nanoseconds: UInt64) {
    lastReady = nanoseconds
    idleTurns = 0
  }

  /// Notes that the last recovery has succeeded, because frames moved, or that it no longer
  /// matters.
  @_noLocks
  mutating func endRecovery() { unrecoveredSince = nil }

  /// Handles a turn in which no frame moved. This is allowed for `stallLimit`, or for `stopTimeout`
  /// if the unit `isStopping`. A million waits that return at once count as a stall (during a stop,
  /// a thousand end the run), so that the thread does not spin.
  @_noLocks
  mutating func noteIdleTurn(at now: UInt64, isStopping: Bool) -> Verdict {
    idleTurns &+= 1
    let silence = now &- lastReady
    if isStopping && (silence > Self.stopTimeout || idleTurns > 1000) { return .stopped }
    guard silence < stallLimit, idleTurns < 1_000_000 else {
      idleTurns = 0
      return .stalled
    }
    return .tolerated
  }

  /// Handles a recovery. Recoveries without a frame between them would otherwise repeat endlessly.
  @_noLocks
  mutating func noteRecovery(at now: UInt64, isStopping: Bool) -> Verdict {
    lastReady = now
    let since = unrecoveredSince ?? now
    unrecoveredSince = since
    if isStopping && now &- since > Self.stopTimeout { return .stopped }
    return now &- since < Self.stallTimeout ? .tolerated : .stalled
  }
}
