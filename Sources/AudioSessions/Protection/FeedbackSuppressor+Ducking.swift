// Audio thread.

import AudioBasics
import RealtimeAudio

/// The reaction to a proven loop: lowering the microphone, waiting for the decay, restoring the
/// gain.
extension FeedbackSuppressor {
  /// Lowers the microphone by 40 dB at once.
  @_noLocks
  mutating func duck(_ fit: LoopFit, at frame: Int) {
    howl.loop = ProvenLoop(fit, band: suspect.band, gain: microphoneGain.decibels)
    microphoneGain.duck(loopGain: min(24, max(-limits.decibels, fit.gain)))
    howl.level = level
    enterDucked(at: frame)
    endTest()
  }

  /// Counts a howl, and starts to wait until it has died away.
  @_noLocks
  private mutating func enterDucked(at frame: Int) {
    duckCount &+= 1
    ducks.publish(duckCount)
    schedule.forgetFailures()
    events.emit(.ducked, pitchCosine: analysis.bands.pitchCosine(band: suspect.band), at: frame)
    stage = .ducked
    analysis.bands.beImprecise()
    howl.hop = hop
  }

  /// Whether the suspect is far below a loud level, so that it may die away slowly.
  var canWait: Bool {
    @_noLocks mutating get {
      !limits.isReached && !limits.leveller.isActive
        && level + 30 * suspect.growth < Self.loudDBFS
    }
  }

  /// Lowers the microphone until the gain of the proven loop is below 0 dB. All frames are analysed
  /// meanwhile: the levels of a few frames vary too much in a sound of many frequencies.
  @_noLocks
  mutating func lower(_ fit: LoopFit, isLoud: Bool) {
    howl.level = level
    let level = analysis.history.highest(band: suspect.band, hops: fit.hops, age: 0)
    decay = DecayTest(of: fit, level: level, gain: microphoneGain.decibels, isLoud: isLoud)
    limits.leveller.end()
    perturbation.end()
    if !analysis.bands.isPrecise { analysis.bands.bePrecise() }
    stage = .lowered
    microphoneGain.lower(to: decay.gain)
  }

  /// Counts a sound that dies away while the microphone is lowered as a howl, without a further
  /// attenuation. Restores the gain if the sound does not die away.
  @_noLocks
  mutating func waitForDecay(at frame: Int) {
    switch decay.follow(analysis.history, band: suspect.band) {
    case nil: return
    case true?:
      howl.loop = decay.loop(band: suspect.band)
      microphoneGain.restrict(to: decay.safeGain)
      enterDucked(at: frame)
    case false?: releaseLowered()
    }
  }

  /// Restores a gain that was lowered without need.
  @_noLocks
  mutating func releaseLowered() {
    microphoneGain.restore(to: decay.gainBefore)
    giveUp()
  }

  /// Waits until the howl has died away, and begins to restore the gain.
  @_noLocks
  mutating func waitForQuiet(at frame: Int) {
    guard howl.isOver(level: level, at: hop) else { return }
    events.emit(.released, pitchCosine: analysis.bands.pitchCosine(band: suspect.band), at: frame)
    stage = .returning
  }

  /// Restores the gain by one hop.
  @_noLocks
  mutating func release() {
    if microphoneGain.raise() { stage = .listening }
  }
}
