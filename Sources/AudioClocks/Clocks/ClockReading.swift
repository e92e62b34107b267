// Audio thread.

/// Reading of a device's own clock: the frames that had passed at a time.
public struct ClockReading: BitwiseCopyable, Sendable {
  /// Frames captured or played since the device started.
  public var frames: Int
  /// When that was seen, in nanoseconds of the host's monotonic clock, or of virtual time.
  public var nanoseconds: UInt64

  /// A reading of `frames` frames at `nanoseconds`.
  @_noLocks
  public init(frames: Int, nanoseconds: UInt64) {
    self.frames = frames
    self.nanoseconds = nanoseconds
  }
}

/// When a clock is best read.
extension FilteredClock {
  /// The most nanoseconds after which a noisy clock is best read again.
  public static var mostLookNanoseconds: UInt64 {
    @_noLocks get { 2_000_000 }
  }

  private static var leastLookNanoseconds: UInt64 {
    @_noLocks get { 20_000 }
  }

  /// When a noisy clock that is read `now` is best read again: after up to two milliseconds, as a
  /// mean after one. The waits are uneven (the finaliser of splitmix64 makes them so), because a
  /// clock that moves in steps, read at even times, seems to run at the rate of its readings.
  @_noLocks
  public static func nextLook(after now: UInt64) -> UInt64 {
    var bits = (now ^ (now >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    let span = mostLookNanoseconds &- leastLookNanoseconds
    return now &+ leastLookNanoseconds &+ (bits ^ (bits >> 31)) % span
  }
}
