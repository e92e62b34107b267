// Audio thread.

/// Reading of a device's own clock: the frames that had passed at a time.
public struct ClockReading: BitwiseCopyable, Sendable {
  /// The frames captured or played since the device started.
  public var frames: Int
  /// The time of the reading, in nanoseconds of the host's monotonic clock or of virtual time.
  public var nanoseconds: UInt64

  /// Creates a reading of `frames` frames at `nanoseconds`.
  @_noLocks
  public init(frames: Int, nanoseconds: UInt64) {
    self.frames = frames
    self.nanoseconds = nanoseconds
  }
}

/// The times at which a clock is best read.
extension FilteredClock {
  /// The longest time in nanoseconds after which a noisy clock should be read again.
  public static var maximumReadNanoseconds: UInt64 {
    @_noLocks get { 2_000_000 }
  }

  private static var minimumReadNanoseconds: UInt64 {
    @_noLocks get { 20_000 }
  }

  /// Returns the time in nanoseconds at which a noisy clock that is read `now` should be read
  /// again: after up to 2 ms, 1 ms on average. The intervals are uneven (by the finaliser of
  /// splitmix64), because a clock that moves in steps and is read at even intervals seems to run at
  /// the rate of its readings.
  @_noLocks
  public static func nextReadTime(after now: UInt64) -> UInt64 {
    var bits = (now ^ (now >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    let span = maximumReadNanoseconds &- minimumReadNanoseconds
    return now &+ minimumReadNanoseconds &+ (bits ^ (bits >> 31)) % span
  }
}
