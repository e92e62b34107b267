// Audio thread.

/// A detector for a device whose frame count stops, or never starts.
struct StallDetector: BitwiseCopyable {
  enum Verdict: BitwiseCopyable {
    /// The device advances, or has not stalled for long.
    case advancing
    /// The device has stopped.
    case stalled
    /// The device has never started.
    case neverStarted
  }

  /// The time in nanoseconds that a device may take to start.
  private static let startTimeout: UInt64 = 5_000_000_000
  private let limit: UInt64
  private var frames = 0
  private var since: UInt64 = 0

  /// Creates a detector. A device that does not advance for 100 ms and two of its periods has
  /// stopped.
  @_noLocks
  init(periodFrames: Int, sampleRate: Int) {
    limit = 100_000_000 &+ UInt64(periodFrames) &* 2_000_000_000 / UInt64(sampleRate)
  }

  /// Resets the detector when the device starts.
  @_noLocks
  mutating func begin(at now: UInt64) {
    frames = 0
    since = now
  }

  /// Records the number of frames that have passed since the start, and returns the verdict.
  @_noLocks
  mutating func note(_ frames: Int, at now: UInt64) -> Verdict {
    if frames > self.frames {
      self.frames = frames
      since = now
    }
    let still = now &- since
    if self.frames == 0 { return still > Self.startTimeout ? .neverStarted : .advancing }
    return still > limit ? .stalled : .advancing
  }
}
