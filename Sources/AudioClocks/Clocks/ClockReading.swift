// Audio thread.

/// What a device once said of its own clock: so many frames had passed at that time.
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
