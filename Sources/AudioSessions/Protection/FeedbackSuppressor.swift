// Audio thread.

import AudioBasics
import RealtimeAudio

/// A suppressor of acoustic feedback, which detects a howl and lowers the microphone before the
/// howl becomes painfully loud. Audio thread.
///
/// A howl is a tone that the loop from the output to the microphone sustains. Level and pitch alone
/// do not distinguish it from an organ note, so a suspicion (step 1) needs a proof (steps 2 and 3):
///
/// 1. Detect a suspect: a band that rises linearly in dB (`GrowthLines`), or a level at the limit.
/// 2. Modulate the monitor gain, the gain of the microphone in the output, with a fixed code of
///    dips (`PerturbationCode`). The dips of the first code are 0.5 dB deep; they are 3 dB deep if
///    the sound is or was at a limit, if it grows like the last howl, or if the shallow dips give
///    too little evidence, unless the deep dips end the sound before it is proven, as in a loop
///    that is shorter than a dip. The gain of the limiter is held during the code and its
///    attenuation is known, so that a howl at the limit responds like one that grows freely. If a
///    howl overdrives the microphone, the dips would not show; the sound is then first held 24 dB
///    below the microphone's full scale, until the microphone is no longer overdriven. The same is
///    done with a sound at the limit that needs another code.
/// 3. Estimate the loop gain from the returned code (`LoopGainEstimator`). A gain of at least 0 dB
///    proves a howl. An external sound does not contain the code, and if the loop gain is lower,
///    the external sound is the larger part of the returned level.
/// 4. Attenuate. A proven howl that is loud is ducked by 40 dB at once. If it is not loud, the
///    microphone is lowered to a loop gain of 3 dB below unity; the sound counts as a howl if it
///    then dies away (`DecayTest`), otherwise the microphone is restored. The same is done with a
///    loud sound whose measured loop gain is below 2 dB, but to a loop gain of 14 dB below unity.
/// 5. Restore. After the howl has died away the gain returns slowly, but only to a measured loop
///    gain of 3 dB below unity. After 10 s the rest of the gain is restored, too. A sound that then
///    grows as the proven loop would let it grow is tested with deep dips at once. If the howl
///    returns, the microphone is held 6 dB lower, and for longer.
public struct FeedbackSuppressor: ~Copyable {
  /// The stages from a suspicion to the restored gain. A test that finds no howl, or that lost
  /// frames end, is followed by `listening`, or by `returning` if an earlier howl still lowers the
  /// gain.
  enum Stage: BitwiseCopyable {
    /// No suspect was detected, or none is proven yet. A suspect is followed by `perturbing`, or by
    /// `stabilizing` if it overdrives the microphone.
    case listening
    /// A sound that overdrives the microphone is held low until its level is stable, and is then
    /// tested: `perturbing`.
    case stabilizing
    /// A code of dips is being sent. A proof is followed by `ducked`, or by `lowered` if the decay
    /// of the sound must confirm it; a sound that hides the code, by another code.
    case perturbing
    /// The microphone is lowered, to test whether the sound dies away. If it does: `ducked`.
    case lowered
    /// A howl is dying away, and then the gain is restored: `returning`.
    case ducked
    /// The gain is being restored. Meanwhile a suspect is treated as in `listening`, which follows.
    case returning
  }

  /// A howl that was attenuated.
  struct DuckedHowl: BitwiseCopyable {
    /// The hop in which it was counted.
    var hop = 0
    /// Its level in dBFS before it was attenuated.
    var level: Float = 0
    /// The loop that sustained it; nil before the first howl, and after a sound that grew like this
    /// howl and was none: the loop may have changed.
    var loop: ProvenLoop?

    /// Returns whether it has died away to `level` dBFS in the hop `now`: after at least 1/3 s, and
    /// at most 2 s, which is enough for any howl.
    @_noLocks
    func isOver(level: Float, at now: Int) -> Bool {
      let waited = now &- hop
      return waited > 125 && (level < max(-55, self.level - 20) || waited > 750)
    }
  }

  /// The level in dBFS above which a tone is loud; a full-scale sine has -3 dBFS.
  static var loudDBFS: Float { @_noLocks get { -23 } }

  /// The number of howls ducked so far.
  public internal(set) var duckCount = 0
  var ducks = PublishedValue()
  var events: FeedbackEventWriter

  var stage = Stage.listening
  var suspect = FeedbackSuspect(band: 0, reason: .limit)
  var analysis: LevelAnalysis
  var limits: LevelLimits
  var estimator = LoopGainEstimator()
  var perturbation: GainPerturbation
  var schedule = PerturbationSchedule()
  var microphoneGain: MicrophoneGain
  var decay = DecayTest()
  var howl = DuckedHowl()
  /// Whether no gain lowers the microphone, so that all samples remain unchanged.
  private var isTransparent = true
  /// The frame of the cycle at which the latest hop ended.
  private var hopEnd = 0

  /// The number of the latest hop.
  var hop: Int { @_noLocks get { analysis.hop } }
  /// The level of the suspect in dBFS in the latest hop.
  var level: Float { @_noLocks get { analysis.history.level(band: suspect.band, age: 0) } }

  /// Creates a suppressor for sound of `channelCount` channels, in which a microphone at its full
  /// scale reaches `fullScale`. It reports its actions through `events`.
  public init(
    sampleRate: Int, channelCount: Int, fullScale: Float = 1, events: consuming FeedbackEventWriter
  ) {
    analysis = LevelAnalysis(sampleRate: sampleRate, channelCount: channelCount)
    limits = LevelLimits(
      leveller: OverloadLeveller(fullScale: fullScale, sampleRate: sampleRate))
    perturbation = GainPerturbation(hopFrames: analysis.bands.hopFrames)
    microphoneGain = MicrophoneGain(hopFrames: analysis.bands.hopFrames)
    self.events = events
  }

  /// Sets the level that the microphone reaches at its full scale from now on. A gain of zero
  /// changes nothing.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    if gain.factor > 0 { limits.leveller.setFullScale(gain.factor) }
  }

  /// Returns a view of the current number of ducked howls.
  public borrowing func makeDuckView() -> PublishedValueView { ducks.makeView() }

  /// Ends the analysis of earlier samples after lost frames: they are unrelated to the next ones.
  @_noLocks
  public mutating func interrupt() {
    analysis.clear()
    switch stage {
    case .perturbing, .stabilizing: endTest()
    case .lowered: releaseLowered()
    case .listening, .ducked, .returning: break
    }
  }

  /// Analyses the microphone before it is added to the output, and lowers it if it howls.
  /// `limiterGain` is the current gain of the limiter that follows. Returns whether that limiter
  /// must hold its gain, which is required while a code is sent.
  @_noLocks @discardableResult
  public mutating func process(_ bus: inout MixerBus, limiterGain: Float = 1) -> Bool {
    limits.limiterGain = limiterGain
    guard bus.frames > 0 else { return perturbation.isSending }
    if isTransparent && analysis.passPause(frames: bus.frames) { return false }
    if analysis.bands.framesLeft > bus.frames {
      _ = analyse(&bus, from: 0)
    } else {
      analyseHops(&bus)
    }
    return isTransparent ? false : apply(to: &bus)
  }

  /// Analyses a cycle in which a hop ends, or several do.
  @_noLocks @inline(never)
  private mutating func analyseHops(_ bus: inout MixerBus) {
    // The peak of the cycle is otherwise measured together with the sums of the channels.
    if analysis.bands.framesLeft < bus.frames { bus.measurePeak() }
    var analysed = analyse(&bus, from: 0)
    while analysis.bands.isHopOver {
      hopEnd = analysed
      finishHops(at: bus.time.frame)
      if analysed < bus.frames { analysed = analyse(&bus, from: analysed) }
    }
  }

  /// Analyses the frames from `start` up to the end of the hop or of the cycle. Returns the frame
  /// at which it stopped.
  @_noLocks @inline(__always)
  private mutating func analyse(_ bus: inout MixerBus, from start: Int) -> Int {
    let silence: Float = stage == .perturbing || stage == .lowered ? 0 : 0.0005
    let stop = analysis.listen(&bus, from: start, silence: silence)
    limits.compare(peak: bus.peakBound)
    return stop
  }

  /// Takes the next step at the end of a hop, or of four, in the cycle that begins at `frame`. Four
  /// hops are analysed at once while the suppressor listens, and either no limit is reached or no
  /// code may be sent soon. Nothing is analysed while no code may be sent for long.
  @_noLocks @inline(never)
  private mutating func finishHops(at frame: Int) {
    analysis.finishHops(gain: limits.decibels)
    switch stage {
    case .listening: findCandidate()
    case .stabilizing: stabilize()
    case .perturbing: measureLoop(at: frame)
    case .lowered: waitForDecay(at: frame)
    case .ducked: waitForQuiet(at: frame)
    case .returning:
      release()
      findCandidate()
    }
    if stage != .listening { isTransparent = false }
    let isCalm =
      stage == .listening
      && (!limits.isReached || hop &+ LevelLimits.maximumReachedHops < schedule.nextHop)
    analysis.beginHops(isCalm: isCalm, nextTest: schedule.nextHop)
  }

  /// Applies the gains to the microphone in the output. Returns whether a code is being sent.
  @_noLocks @inline(never)
  private mutating func apply(to bus: inout MixerBus) -> Bool {
    perturbation.process(&bus.buffer, frames: bus.frames)
    limits.leveller.process(&bus, isHeld: perturbation.isSending)
    microphoneGain.process(&bus.buffer, frames: bus.frames)
    isTransparent =
      stage == .listening && microphoneGain.isTransparent && perturbation.isTransparent
      && limits.leveller.isTransparent
    return perturbation.isSending
  }
}

/// The steps from a suspicion to a proof.
extension FeedbackSuppressor {
  /// Searches for a band that behaves like a howl, and begins to prove it.
  @_noLocks
  mutating func findCandidate() {
    limits.count(analysis.bands.hopsAtOnce)
    let loudest = analysis.bands.loudest
    if analysis.bands.levels[loudest] < -55 { return schedule.rest(in: hop) }
    guard hop >= schedule.nextHop else { return }
    // After a howl another one is likely, and the dips of an aborted deep code circulate in a loop
    // for a while; in both cases a line may deviate more.
    let isRough = duckCount > 0 || schedule.isCirculating(in: hop)
    if let loop = howl.loop,
      let returning = analysis.returningHowl(in: loop, gain: microphoneGain.decibels)
    {
      suspect = returning
    } else if let growing = analysis.growingBand(spread: isRough ? 2 : 0.3) {
      suspect = growing
    } else if limits.reachedHops >= 8,
      analysis.history.isSteady(band: loudest, hops: limits.reachedHops)
    {
      suspect = FeedbackSuspect(band: loudest, reason: .limit)
    } else {
      return
    }
    schedule.beginSuspect()
    if limits.isOverdriven { beginStabilizing() } else { sendCode() }
  }

  @_noLocks
  private mutating func beginStabilizing() {
    stage = .stabilizing
    perturbation.pause()
    limits.leveller.begin()
  }

  /// Waits until the level of a sound that is held low is stable.
  @_noLocks
  private mutating func stabilize() {
    switch limits.holdLow() {
    case .unstable: return
    case .stable: sendCode()
    case .external: giveUp(isExternal: true)
    }
  }

  /// Sends a code.
  @_noLocks
  private mutating func sendCode() {
    stage = .perturbing
    analysis.bands.bePrecise()
    limits.beginCode()
    let (level, growth) = (level, suspect.growth)
    // A sound that is held low was at a limit, and returns to it soon if it is a howl.
    let isLimited = !suspect.isGrowing || limits.isReached || limits.leveller.isActive
    // The levels at the end of the code, and one second from now.
    let (isDeep, continues) = schedule.begin(
      isUrgent: isLimited || suspect.isReturningHowl || level + 80 * growth > -6,
      willBeLoud: level + 400 * growth > Self.loudDBFS)
    estimator.begin(analysis.history, band: suspect.band, isDeep: isDeep, continues: continues)
    perturbation.begin(isDeep: isDeep, after: hopEnd)
  }

  /// Evaluates one hop of the returned sound.
  @_noLocks
  private mutating func measureLoop(at frame: Int) {
    // Another sound masks the code: the code starts again at the current level.
    if limits.isCodeMasked {
      if perturbation.isDeep { schedule.abortDeepCode(in: hop) }
      return limits.isOverdriven || limits.leveller.isActive ? beginStabilizing() : sendCode()
    }
    if !perturbation.isDeep && limits.isReached && !schedule.hasDecayed { return sendCode() }
    if let fit = estimator.listen(
      analysis.history, band: suspect.band,
      energies: analysis.bands.energies(band: suspect.band))
    {
      let limited = -limits.decibels
      let isLevelled = limits.leveller.isActive
      if fit.confirmsFeedback(limited: limited) {
        if canWait { return lower(fit, isLoud: false) }
        return fit.needsDecay(limited: limited) && !isLevelled
          ? lower(fit, isLoud: true) : duck(fit, at: frame)
      }
      if fit.needsRepeat(limited: limited, isLoud: isLevelled) { schedule.needsRepeat = true }
    }
    if estimator.isOver && schedule.needsRepeat && estimator.codes < 4 {
      // The proof is incomplete. A sound held at the limit has been loud for long enough by now.
      schedule.continueProof()
      if limits.isReached { beginStabilizing() } else { sendCode() }
    } else if estimator.isOver || hasFallen {
      schedule.end(hasFallen: hasFallen, isDeep: perturbation.isDeep)
      giveUp()
    }
  }

  /// Whether hardly anything is left of the suspect: nothing at all, or 30 dB less than when the
  /// code began, after a time in which a short loop gave its first result.
  private var hasFallen: Bool {
    @_noLocks get {
      let firstResultHops = PerturbationCode.length(stage: 0) &+ PerturbationCode.chipHops
      return level < -75 || level < estimator.start - 30 && estimator.age > firstResultHops
    }
  }

  /// Ends a test that found no howl, or found that the sound is certainly external.
  @_noLocks
  mutating func giveUp(isExternal: Bool = false) {
    if suspect.isReturningHowl { howl.loop = nil }
    schedule.fail(in: hop, isGrowing: suspect.isGrowing, isExternal: isExternal)
    endTest()
  }

  @_noLocks
  mutating func endTest() {
    switch stage {
    case .stabilizing, .perturbing, .lowered:
      stage = microphoneGain.isRestricted ? .returning : .listening
    case .listening, .ducked, .returning: break
    }
    limits.leveller.end()
    analysis.bands.beImprecise()
    perturbation.end()
  }
}
