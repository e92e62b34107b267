// Audio thread.

import AudioBasics

/// Whether a device's count of frames moves on.
struct StallDetector: BitwiseCopyable {
  enum Verdict: BitwiseCopyable {
    /// It moves, or has not stood still for long; it stopped; it never began.
    case moving, standing, dead
  }

  /// So long a device may take to begin.
  private static let patience: UInt64 = 5_000_000_000
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

  /// So many frames have passed since its start.
  @_noLocks
  mutating func note(_ frames: Int, at now: UInt64) -> Verdict {
    if frames > self.frames {
      self.frames = frames
      since = now
    }
    let still = now &- since
    if self.frames == 0 { return still > Self.patience ? .dead : .moving }
    return still > limit ? .standing : .moving
  }
}

/// Silence while a device is being relocked, and ten milliseconds from there to full level.
struct FadeIn: BitwiseCopyable {
  private let step: Float
  private var gain: Float = 1
  private var isMuted = false

  @_noLocks
  init(sampleRate: Int) {
    step = 100 / Float(sampleRate)
  }

  /// Whether it changes what passes.
  var isActive: Bool {
    @_noLocks get { gain < 1 }
  }

  /// Silence from the next frame on.
  @_noLocks
  mutating func mute() {
    gain = 0
    isMuted = true
  }

  /// Up from here.
  @_noLocks
  mutating func open() { isMuted = false }

  /// Takes the first `frames` frames of `buffer`, which are the next ones.
  @_noLocks
  mutating func apply(to buffer: inout SampleBuffer, frames: Int) {
    guard gain < 1 else { return }
    guard !isMuted else { return buffer.clear(frames: frames) }
    let rising = min(frames, Int(clamping: (1 - gain) / step) &+ 1)
    buffer.ramp(frames: rising, from: gain, step: step)
    gain = min(1, gain + Float(rising) * step)
  }
}
