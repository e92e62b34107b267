// Audio thread.

import AudioBasics

/// The gain of a microphone that a feedback suppressor lowers, and restores slowly up to a ceiling:
/// the gain in dB at which the loop was measured to be below unity.
struct MicrophoneGain: BitwiseCopyable {
  /// The gain in dB, at most 0.
  private(set) var decibels: Float = 0
  /// The margin in dB below 0 dB to which the loop gain is restored after a howl.
  static var safeMargin: Float { @_noLocks get { 3 } }

  private let hopFrames: Int
  private var ceiling: Float = 0
  private var smoothed = SmoothedGain(.unity)
  /// The number of hops for which the gain is held at the ceiling, 10 s at first, and of those that
  /// have passed.
  private var holdHops = 3750
  private var heldHops = 0

  init(hopFrames: Int) {
    self.hopFrames = hopFrames
  }

  /// Whether all samples remain unchanged.
  var isTransparent: Bool { @_noLocks get { smoothed.isTransparent } }
  /// Whether a howl was found, and the gain is not completely restored yet.
  var isRestricted: Bool { @_noLocks get { ceiling < 0 } }

  /// Lowers the gain by 40 dB at once. The ceiling is `safeMargin` below the gain at which a loop
  /// of `loopGain` dB, as measured with the current gain, is at 0 dB.
  @_noLocks
  mutating func duck(loopGain: Float) {
    let highest = isRestricted ? decibels - 6 : 0
    restrict(to: max(-40, min(highest, decibels - max(0, loopGain) - Self.safeMargin)))
    move(to: -40, hops: 2)
  }

  /// Lowers the gain to `decibels` as a test, without a ceiling.
  @_noLocks
  mutating func lower(to decibels: Float) {
    move(to: decibels, hops: 4)
  }

  /// Sets the ceiling after a howl. After a repeated howl the gain is held for twice as long.
  @_noLocks
  mutating func restrict(to decibels: Float) {
    if isRestricted { holdHops = min(60000, holdHops &* 2) }
    ceiling = decibels
    heldHops = 0
  }

  /// Restores the gain of `decibels` after a test, within 0.1 s.
  @_noLocks
  mutating func restore(to decibels: Float) {
    move(to: decibels, hops: 40)
  }

  /// Raises the gain by one hop: by 15 dB per second up to the ceiling, and after the hold time by
  /// 1 dB per second beyond it. Returns whether it is completely restored.
  @_noLocks
  mutating func raise() -> Bool {
    if decibels < ceiling {
      heldHops = 0
      move(to: min(ceiling, decibels + 0.04), hops: 1)
    } else if heldHops < holdHops {
      heldHops &+= 1
    } else {
      ceiling = min(0, ceiling + 0.002_67)
      move(to: ceiling, hops: 1)
    }
    guard ceiling == 0 && decibels == 0 else { return false }
    smoothed.set(.unity)
    return true
  }

  /// Applies the gain to the first `frames` frames.
  @_noLocks
  mutating func process(_ sound: inout SampleBuffer, frames: Int) {
    smoothed.process(&sound, frames: frames)
  }

  @_noLocks
  private mutating func move(to decibels: Float, hops: Int) {
    self.decibels = decibels
    smoothed.ramp(to: Gain(realtimeDecibels: decibels), frames: hops &* hopFrames)
  }
}
