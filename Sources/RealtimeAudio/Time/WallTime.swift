import CRealtime

/// The time of day, which may be set while the program runs. Not for the audio thread, which keeps time by
/// `HostClock`.
public enum WallTime {
  /// Nanoseconds since 1970 (UTC), from 1970 to 2255 whatever year the clock is set to. Any thread.
  public static var nanoseconds: UInt64 { host_wall_nanoseconds() }
}
