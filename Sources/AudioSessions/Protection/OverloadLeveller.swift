// Audio thread.

/// The leveller of a sound that overdrives the microphone or is at the limit of the output: it
/// holds the sound 24 dB below the microphone's full scale while a code tests it. In an overdriven
/// microphone the dips of a code would not show.
///
/// It is a limiter whose gain is not held between two crests.
struct OverloadLeveller: ~Copyable {
  /// The level that the microphone reaches at its full scale; above 0.
  private(set) var fullScale: Float
  /// Whether the sound is being held low.
  private(set) var isActive = false
  private var limiter: ZeroDelayLimiter
  /// The number of hops since the sound is held low, of those of them in which the microphone was
  /// overdriven, and of those since its gain is stable.
  private var activeHops = 0
  private var overdrivenHops = 0
  private var stableHops = 0
  private var stableGain: Float = 1

  /// The state of a sound that is held low.
  enum State: BitwiseCopyable {
    /// Its level is not stable yet.
    case unstable
    /// Its level is stable.
    case stable
    /// It overdrives the microphone although it is held low: it does not come through a loop.
    case external
  }

  /// Creates a leveller for a microphone that reaches `fullScale` at its full scale.
  init(fullScale: Float, sampleRate: Int) {
    self.fullScale = fullScale
    limiter = ZeroDelayLimiter(
      limit: fullScale, sampleRate: sampleRate, holdSeconds: 0,
      releaseSeconds: Self.releaseSeconds)
  }

  /// The time in which the gain rises by two thirds of the difference to one. It is longer than the
  /// period of a low howl, or the gain would follow every crest. It is short enough to end before a
  /// howl that is lowered in each round trip is lost in the noise.
  private static var releaseSeconds: Double { @_noLocks get { 0.02 } }

  /// The gain of the last frame, as a factor.
  var gain: Float { @_noLocks get { limiter.gain } }
  /// Whether all samples remain unchanged.
  var isTransparent: Bool { @_noLocks get { !isActive && gain == 1 } }

  /// Returns whether a microphone whose highest magnitude is `peak` is overdriven.
  @_noLocks
  func isOverdriven(peak: Float) -> Bool { peak > 0.99 * fullScale }

  /// Sets the level that the microphone reaches at its full scale, above 0, from now on.
  @_noLocks
  mutating func setFullScale(_ fullScale: Float) {
    self.fullScale = fullScale
    if !isActive { limiter.limit = fullScale }
  }

  /// Begins to hold the sound low, or to wait again for a stable level.
  @_noLocks
  mutating func begin() {
    isActive = true
    activeHops = 0
    overdrivenHops = 0
    stableHops = 0
    limiter.limit = min(limiter.limit, 0.5 * fullScale)
  }

  /// Lowers the limit towards 24 dB below full scale by one hop. `gain` is the combined gain of all
  /// limiters, as a factor, and `isOverdriven` whether the microphone is overdriven.
  @_noLocks
  mutating func follow(gain: Float, isOverdriven: Bool) -> State {
    if limiter.limit > 0.08 * fullScale { limiter.limit *= 0.6 }
    if isOverdriven || gain > 1.06 * stableGain || gain < 0.94 * stableGain {
      stableGain = gain
      stableHops = 0
    }
    stableHops &+= 1
    activeHops &+= 1
    if isOverdriven { overdrivenHops &+= 1 }
    if stableHops >= 26 { return .stable }
    guard activeHops > 75 else { return .unstable }
    return isOverdriven || 2 &* overdrivenHops > activeHops ? .external : .stable
  }

  /// Lets the level rise again.
  @_noLocks
  mutating func end() {
    isActive = false
    limiter.limit = fullScale
  }

  /// Limits the frames of `bus`, with a gain that does not rise if it is `held`.
  @_noLocks
  mutating func process(_ bus: inout MixerBus, isHeld: Bool) {
    if isTransparent { return }
    let earlier = limiter.silencedSamples
    limiter.process(&bus.buffer, frames: bus.frames, isHeld: isHeld)
    bus.silencedSamples &+= limiter.silencedSamples &- earlier
    bus.peakBound = min(bus.peakBound, limiter.limit)
  }
}
