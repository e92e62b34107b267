// Audio thread.

import RealtimeAudio

/// What limits the level of a howl: the limiter of the output, the full scale of the microphone,
/// and the leveller, which holds the sound below that full scale.
struct LevelLimits: ~Copyable {
  var leveller: OverloadLeveller
  /// The gain of the limiter of the output, as a factor.
  var limiterGain: Float = 1
  /// Whether the microphone is at its full scale.
  private(set) var isOverdriven = false
  /// The number of recent hops in which a limit was reached, at most `maximumReachedHops`.
  private(set) var reachedHops = 0
  /// The gain when the latest code began, as a factor.
  private var codeGain: Float = 1

  /// The greatest value of `reachedHops`: 64 ms.
  static var maximumReachedHops: Int { @_noLocks get { 24 } }

  init(leveller: consuming OverloadLeveller) {
    self.leveller = leveller
  }

  /// The combined gain of the limiter and the leveller, as a factor and in dB (at most 0 dB).
  var gain: Float { @_noLocks get { limiterGain * leveller.gain } }
  var decibels: Float {
    @_noLocks get { gain < 1 ? RealtimeDecibels.level(ofPower: gain * gain) : 0 }
  }

  /// Whether the limiter attenuates the sound or the microphone is overdriven.
  var isReached: Bool { @_noLocks get { isOverdriven || limiterGain < 0.998 } }

  /// Whether the level of the latest code no longer shows the loop, because another sound brought
  /// the limiters down or overdrives the microphone.
  var isCodeMasked: Bool { @_noLocks get { isOverdriven || gain < 0.7 * codeGain } }

  /// Compares the latest peak of the microphone with its full scale.
  @_noLocks @inline(__always)
  mutating func compare(peak: Float) { isOverdriven = leveller.isOverdriven(peak: peak) }

  /// Counts `hops` hops as hops at a limit or below it.
  @_noLocks @inline(__always)
  mutating func count(_ hops: Int) {
    reachedHops =
      isReached ? min(Self.maximumReachedHops, reachedHops &+ hops) : max(0, reachedHops &- hops)
  }

  /// Keeps the gain at the beginning of a code.
  @_noLocks
  mutating func beginCode() { codeGain = gain }

  /// Lets the leveller hold the sound low for one more hop.
  @_noLocks
  mutating func holdLow() -> OverloadLeveller.State {
    leveller.follow(gain: gain, isOverdriven: isOverdriven)
  }
}
