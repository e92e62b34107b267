// Audio thread.
import AudioBasics

/// From a suspicion to a proof.
extension FeedbackGuard {
  /// Looks for a band that behaves as a howl would, and begins to prove it.
  @_noLocks
  mutating func suspectSomething() {
    heldHops = isHeld ? min(24, heldHops &+ 1) : max(0, heldHops &- 1)
    let loudest = bands.loudest
    if bands.levels[loudest] < -55 {
      if hop &- patience > 1500 { failures = 0 }
      return
    }
    guard hop >= patience else { return }
    if let (band, rise) = growingBand() {
      suspect = band
      growth = rise
    } else if heldHops >= 12, history.stands(band: loudest, hops: heldHops) {
      suspect = loudest
      growth = 0
    } else {
      return
    }
    probeCount &+= 1
    bands.beginPitch()
    hintLag = 0
    if isOverdriven { beginSettling() } else { sendCode() }
  }

  /// The loudest band that grows as a loop would, and by how many dB a hop.
  @_noLocks
  private mutating func growingBand() -> (band: Int, rise: Float)? {
    let rising = history.risingBands()
    guard rising != SIMDMask(repeating: false) else { return nil }
    var found: (band: Int, rise: Float)?
    var level: Float = -55
    // Where it howled before it may howl again.
    let spread: Float = duckCount > 0 ? 2 : 0.3
    var band = 0
    while band < 4 {
      if rising[band], bands.levels[band] > level,
        let rise = history.growth(band: band, spread: spread)
      {
        found = (band, rise)
        level = bands.levels[band]
      }
      band &+= 1
    }
    return found
  }

  @_noLocks
  mutating func beginSettling() {
    stage = .settling
    stageHop = hop
    calmHops = 0
    isLevelled = true
    leveller.lower(to: min(leveller.limit, 0.5 * fullScale))
  }

  /// Lowers what the microphone adds to the output by 22 dB, and waits until the gains that hold a
  /// howl down have found their place. What overdrives the microphone even then comes from outside.
  @_noLocks
  mutating func settle() {
    if leveller.limit > 0.08 * fullScale { leveller.lower(to: 0.6 * leveller.limit) }
    if isOverdriven || reduction > 1.06 * settledGain || reduction < 0.94 * settledGain {
      settledGain = reduction
      calmHops = 0
    }
    calmHops &+= 1
    let waited = hop &- stageHop
    if calmHops >= 26 || (waited > 75 && !isOverdriven) {
      sendCode()
    } else if waited > 75 {
      giveUp()
    }
  }

  @_noLocks
  mutating func sendCode() {
    stage = .probing
    probedGain = reduction
    code.begin()
    newHintLag = 0
    newHintShare = 0
    hopsOfCode = 0
    framesOfHop = 0
  }

  /// Takes a hop of what comes back.
  @_noLocks
  mutating func probe(at frame: Int) {
    // Something came in the way that hides the code: once more, from where it is now.
    if isOverdriven { return beginSettling() }
    if reduction < 0.7 * probedGain { return isLevelled ? beginSettling() : sendCode() }
    if let answer = code.listen(history, band: suspect), isProof(answer) {
      duck(answer, at: frame)
    } else if newHintLag > 0 && hintLag == 0 && code.isOver(lag: newHintLag &+ 6) {
      // Half a proof: the same again, and it is a whole one. What is held at the limit has been
      // loud for long enough by now.
      hintLag = newHintLag
      if isHeld { beginSettling() } else { sendCode() }
    } else if code.isOver(lag: LoopCode.longestLag) || history.level(band: suspect, age: 0) < -75 {
      giveUp()
    }
  }

  /// Nothing came back: the next code waits, the longer the more often nothing did.
  @_noLocks
  mutating func giveUp() {
    failures = min(failures &+ 1, growth > 0 ? 3 : 7)
    // 32 ms, 128 ms and 0.5 s. What is held at the limit hurts if it is a howl: it is asked
    // twice more, at once, but later only after 8 s.
    patience = hop &+ 3 << (2 &* max(0, failures &- (growth > 0 ? 0 : 2)))
    endProbe()
  }

  /// Whether an answer proves a loop: by itself, or because the code before got the same. The
  /// bounds lie between what loops and what 480 excerpts of music and speech answered.
  @_noLocks
  mutating func isProof(_ answer: LoopCode.Answer) -> Bool {
    guard answer.slope < 8 else { return false }
    if answer.slope > 0.55 && answer.share > (answer.stage == 2 ? 0.82 : 0.72) { return true }
    guard answer.stage > 0 else { return false }
    // A loop that a resonance slows down answers with less at each lag, but as surely.
    guard answer.slope > 0.7 && answer.share > 0.5 || answer.slope > 0.3 && answer.share > 0.6
    else { return false }
    if hintLag > 0 && abs(answer.lag &- hintLag) <= 2 { return true }
    if answer.share > newHintShare {
      newHintShare = answer.share
      newHintLag = answer.lag
    }
    return false
  }

  @_noLocks
  mutating func endProbe() {
    switch stage {
    case .settling, .probing: stage = ceiling < 0 ? .returning : .listening
    case .listening, .ducked, .returning: break
    }
    isLevelled = false
    leveller.lower(to: fullScale)
    bands.findsPitch = false
    dip.glide(to: 1, frames: hopFrames)
  }
}
