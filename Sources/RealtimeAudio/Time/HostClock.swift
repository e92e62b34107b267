// Audio thread.
import CRealtime

/// The machine's monotonic clock. Any thread.
public enum HostClock {
  /// Nanoseconds since boot, on the clock that ALSA's monotonic timestamps use. Any thread.
  public static var nanoseconds: UInt64 {
    @_noLocks get { realtime_host_nanoseconds() }
  }

  /// The same in seconds. Any thread.
  package static var seconds: Double {
    @_noLocks get { Double(nanoseconds) / 1e9 }
  }

  /// Sleeps for that long, or until a signal comes.
  @_noLocks
  public static func pause(milliseconds: Int) {
    sleep(until: nanoseconds &+ UInt64(truncatingIfNeeded: milliseconds) &* 1_000_000)
  }

  /// Sleeps until `nanoseconds` shows that value, or a signal comes.
  @_noLocks
  public static func sleep(until nanoseconds: UInt64) {
    realtime_sleep_until(nanoseconds)
  }
}

/// Marks the stretch of code that must be realtime-safe, for RealtimeSanitizer to watch.
/// Called by the thread that runs it.
public enum RealtimeContext {
  /// Until `leave`, a sanitized build stops at the first allocation, lock or blocking call.
  @_noLocks
  public static func enter() { realtime_enter() }

  /// Ends the stretch that `enter` began.
  @_noLocks
  public static func leave() { realtime_leave() }
}
