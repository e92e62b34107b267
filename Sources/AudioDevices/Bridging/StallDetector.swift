// Audio thread.

/// A detector for a device whose count of frames stops, or never begins.
struct StallDetector: BitwiseCopyable {
  enum Verdict: BitwiseCopyable {
    /// It moves, or has not stood still for long; it stopped; it never began.
    case moving, standing, dead
  }

  /// Nanoseconds that a device may take to begin.
  private static let startTimeout: UInt64 = 5_000_000_000
  private let limit: UInt64
  private var frames = 0
  private var since: UInt64 = 0

  /// A device that stands still for a tenth of a second and two of its periods has stopped.
  @_noLocks
  init(periodFrames: Int, sampleRate: Int) {
    limit = 100_000_000 &+ UInt64(periodFrames) &* 2_000_000_000 / UInt64(sampleRate)
  }

  /// It starts anew.
  @_noLocks
  mutating func begin(at now: UInt64) {
    frames = 0
    since = now
  }

  /// Takes how many frames have passed since its start.
  @_noLocks
  mutating func note(_ frames: Int, at now: UInt64) -> Verdict {
    if frames > self.frames {
      self.frames = frames
      since = now
    }
    let still = now &- since
    if self.frames == 0 { return still > Self.startTimeout ? .dead : .moving }
    return still > limit ? .standing : .moving
  }
}
