import CRealtime

/// The clock on the wall, which somebody may set. Not for the audio thread, which keeps time by
/// `HostClock`.
public enum WallTime {
  /// Nanoseconds since 1970 (UTC). Any thread.
  public static var nanoseconds: UInt64 { host_wall_nanoseconds() }
}
