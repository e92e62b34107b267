// Audio thread.
import CRealtime

/// The machine's monotonic clock. Any thread.
public enum HostClock {
  /// The nanoseconds since boot, on the clock of ALSA's monotonic timestamps. Any thread.
  public static var nanoseconds: UInt64 {
    @_noLocks get { realtime_host_nanoseconds() }
  }

  /// The seconds since boot, on the same clock. Any thread.
  package static var seconds: Double {
    @_noLocks get { Double(nanoseconds) / 1e9 }
  }

  /// Sleeps for `milliseconds`, or until a signal arrives.
  @_noLocks
  public static func pause(milliseconds: Int) {
    sleep(until: nanoseconds &+ UInt64(truncatingIfNeeded: milliseconds) &* 1_000_000)
  }

  /// Sleeps until the clock reaches `nanoseconds`, or until a signal arrives.
  @_noLocks
  public static func sleep(until nanoseconds: UInt64) {
    realtime_sleep_until(nanoseconds)
  }
}

/// Marks a section of code that must be realtime-safe, for RealtimeSanitizer. Called by the thread
/// that runs the section.
public enum RealtimeContext {
  /// Begins the section. Until `leave`, a sanitized build stops at the first allocation, lock or
  /// blocking call.
  @_noLocks
  public static func enter() { realtime_enter() }

  /// Ends the section that `enter` began.
  @_noLocks
  public static func leave() { realtime_leave() }
}
