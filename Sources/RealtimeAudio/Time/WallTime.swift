import CRealtime

/// The time of day, which may be set while the program runs. Not for the audio thread, which uses
/// `HostClock`.
package enum WallTime {
  /// The nanoseconds since 1970 (UTC), limited to the years 1970 to 2255 for any setting of the
  /// clock. Any thread.
  package static var nanoseconds: UInt64 { host_wall_nanoseconds() }
}
