// Audio thread.

import AudioBasics
import RealtimeAudio

/// The reaction to a proven loop: lowering the microphone, waiting for the decay, restoring the
/// gain.
extension FeedbackSuppressor {
  /// Lowers the microphone by 40 dB at once, and sets the ceiling to which its gain may return.
  @_noLocks
  mutating func duck(_ answer: LoopAnswer, at frame: Int) {
    let limited = -reductionDecibels
    let loopGain = min(24, max(limited, answer.gain))
    let isRelapse = ceiling < 0
    ceiling = max(-40, min(isRelapse ? decibels - 6 : 0, decibels - max(0, loopGain) - 3))
    duckedLevel = history.level(band: suspect, age: 0)
    decibels = -40
    gain.ramp(to: Gain(attenuation: -40), frames: 2 &* hopFrames)
    enterDucked(isRelapse: isRelapse, at: frame)
    endProbe()
  }

  /// Counts a howl, and starts to wait until it has died away. After a repeated howl the microphone
  /// is held low for longer.
  @_noLocks
  private mutating func enterDucked(isRelapse: Bool, at frame: Int) {
    if isRelapse { holdHops = min(60000, holdHops &* 2) }
    duckCount &+= 1
    ducks.publish(duckCount)
    failures = 0
    events.emit(.ducked, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .ducked
    stageHop = hop
  }

  /// Whether the suspect is far below a loud level, so that it may die away slowly.
  var canWait: Bool {
    @_noLocks mutating get {
      !isHeld && !isLevelled && history.level(band: suspect, age: 0) + 30 * growth < Self.loudDBFS
    }
  }

  /// Lowers the microphone until the gain of the proven loop is below 0 dB.
  @_noLocks
  mutating func lower(_ answer: LoopAnswer) {
    duckedLevel = history.level(band: suspect, age: 0)
    let level = history.highest(band: suspect, hops: answer.hops, age: 0)
    decay = DecayTest(of: answer, level: level, gain: decibels)
    endProbe()
    stage = .lowered
    decibels = decay.gain
    gain.ramp(to: Gain(attenuation: decibels), frames: 4 &* hopFrames)
  }

  /// Counts a sound that dies away while the microphone is lowered as a howl, without a further
  /// attenuation. Restores the gain if the sound does not die away.
  @_noLocks
  mutating func waitForDecay(at frame: Int) {
    // If the level of a sound varies within a round trip, only the levels of its loudest hops are
    // comparable.
    let level = history.highest(band: suspect, hops: decay.answer.hops, age: 0)
    let isFalling = level < history.highest(band: suspect, hops: decay.answer.hops, age: 32) - 1
    switch decay.follow(level: level, isFalling: isFalling) {
    case nil: return
    case true?:
      let isRelapse = ceiling < 0
      ceiling = decibels
      enterDucked(isRelapse: isRelapse, at: frame)
    case false?: releaseLowered()
    }
  }

  /// Restores a gain that was lowered without need, within 0.1 s.
  @_noLocks
  mutating func releaseLowered() {
    decibels = decay.gainBefore
    gain.ramp(to: Gain(attenuation: decibels), frames: 40 &* hopFrames)
    giveUp()
  }

  /// Waits until the howl has died away: at least 1/3 s, and at most 2 s, which is enough for any
  /// howl.
  @_noLocks
  mutating func waitForQuiet(at frame: Int) {
    let level = history.level(band: suspect, age: 0)
    let waited = hop &- stageHop
    guard waited > 125, level < max(-55, duckedLevel - 20) || waited > 750 else { return }
    events.emit(.released, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .returning
    stageHop = hop
  }

  /// Raises the gain by 15 dB per second up to the ceiling, and after the hold time by 1 dB per
  /// second beyond it.
  @_noLocks
  mutating func release() {
    if decibels < ceiling {
      decibels = min(ceiling, decibels + 0.04)
      stageHop = hop
    } else if hop &- stageHop > holdHops {
      ceiling = min(0, ceiling + 0.002_67)
      decibels = ceiling
    } else {
      return
    }
    gain.ramp(to: Gain(attenuation: decibels), frames: hopFrames)
    if ceiling == 0 && decibels == 0 {
      gain.set(.unity)
      stage = .listening
    }
  }
}
