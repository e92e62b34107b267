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
///    the sound is at the limit or if the shallow dips give too little evidence, unless the deep
///    dips end the sound before it is proven, as in a loop that is shorter than a dip. The gain of
///    the limiter is held during the code and its attenuation is known, so that a howl at the limit
///    responds like one that grows freely. If a howl overdrives the microphone, the dips would not
///    show; the sound is then first held 24 dB below the microphone's full scale, until the
///    microphone is no longer overdriven. The same is done with a sound at the limit that needs
///    another code.
/// 3. Estimate the loop gain from the returned code (`LoopGainEstimator`). A gain of at least 0 dB
///    proves a howl. An external sound does not contain the code, and if the loop gain is lower,
///    the external sound is the larger part of the returned level.
/// 4. Attenuate. A proven howl that is loud is ducked by 40 dB at once. If it is not loud, the
///    microphone is lowered to a loop gain of 3 dB below unity; the sound counts as a howl if it
///    then dies away (`DecayTest`), otherwise the microphone is restored. The same is done with a
///    loud sound whose measured loop gain is below 2 dB, but to a loop gain of 14 dB below unity.
/// 5. Restore. After the howl has died away the gain returns slowly, but only to a measured loop
///    gain of 3 dB below unity. If the howl returns, the microphone is held 6 dB lower, and for
///    longer. After that time the rest of the gain is restored, too.
public struct FeedbackSuppressor: ~Copyable {
  /// A sound that may be a howl.
  struct Suspect: BitwiseCopyable {
    var band = 0
    /// The growth in dB per hop; 0 if the sound is at the limit.
    var growth: Float = 0
  }

  enum Stage: BitwiseCopyable {
    /// No suspect was detected, or none is proven yet.
    case listening
    /// A sound that overdrives the microphone is held low until its level is stable.
    case stabilizing
    /// A code of dips is being sent.
    case perturbing
    /// The microphone is lowered, to test whether the sound dies away.
    case lowered
    /// A howl is dying away.
    case ducked
    /// The gain is being restored.
    case returning
  }

  /// The number of howls ducked so far.
  public internal(set) var duckCount = 0
  var ducks = PublishedValue()

  /// The combined gain of the limiter and the leveller, as a factor and in dB (at most 0 dB).
  var reduction: Float { @_noLocks get { limiterGain * leveller.gain } }
  var reductionDecibels: Float {
    @_noLocks get { reduction < 1 ? RealtimeDecibels.level(ofPower: reduction * reduction) : 0 }
  }
  /// Whether the limiter attenuates the sound or the microphone is overdriven.
  var isHeld: Bool { @_noLocks get { isOverdriven || limiterGain < 0.998 } }

  /// The greatest value of `heldHops`: 64 ms.
  private static var maximumHeldHops: Int { @_noLocks get { 24 } }

  /// The level in dBFS above which a tone is loud; a full-scale sine has -3 dBFS.
  static var loudDBFS: Float { @_noLocks get { -23 } }

  var stage = Stage.listening
  var bands: HopLevels
  var history = LevelHistory()
  var lines = GrowthLines()
  var estimator = LoopGainEstimator()
  var perturbation: GainPerturbation
  var schedule = PerturbationSchedule()
  var leveller: OverloadLeveller
  var microphoneGain: MicrophoneGain
  var decay = DecayTest()
  var events: FeedbackEventWriter
  /// The number of hops since the start, the unit of time of all counters here.
  var hop = 0
  /// The number of recent hops in which the limiter attenuated the sound or the microphone was
  /// overdriven.
  var heldHops = 0
  var suspect = Suspect()
  /// The gain of the limiter of the output, as a factor.
  var limiterGain: Float = 1
  /// The hop in which the last howl was counted, and its level before it was lowered.
  var duckedHop = 0
  var duckedLevel: Float = 0
  /// Whether no gain lowers the microphone, so that all samples remain unchanged.
  private var isTransparent = true
  /// The frame of the cycle at which the latest hop ended.
  var hopEnd = 0
  /// Whether the microphone is at its full scale.
  var isOverdriven = false
  /// The combined gain of the limiter and the leveller when the code began, as a factor.
  var codeGain: Float = 1

  /// Creates a suppressor for sound of `channelCount` channels, in which a microphone at its full
  /// scale reaches `fullScale`. It reports its actions through `events`.
  public init(
    sampleRate: Int, channelCount: Int, fullScale: Float = 1, events: consuming FeedbackEventWriter
  ) {
    bands = HopLevels(sampleRate: sampleRate, channelCount: channelCount)
    perturbation = GainPerturbation(hopFrames: bands.hopFrames)
    leveller = OverloadLeveller(fullScale: fullScale, sampleRate: sampleRate)
    microphoneGain = MicrophoneGain(hopFrames: bands.hopFrames)
    self.events = events
  }

  /// Sets the level that the microphone reaches at its full scale from now on. A gain of zero
  /// changes nothing.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    if gain.factor > 0 { leveller.setFullScale(gain.factor) }
  }

  /// Returns a view of the current number of ducked howls.
  public borrowing func makeDuckView() -> PublishedValueView { ducks.makeView() }

  /// Ends the analysis of earlier samples after lost frames: they are unrelated to the next ones.
  @_noLocks
  public mutating func interrupt() {
    history.clear()
    lines.clear()
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
    self.limiterGain = limiterGain
    guard bus.frames > 0 else { return perturbation.isSending }
    if bands.framesLeft > bus.frames {
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
    if bands.framesLeft < bus.frames { bus.measurePeak() }
    var analysed = analyse(&bus, from: 0)
    while bands.isHopOver {
      finishHops(at: bus.time.frame, end: analysed)
      if analysed < bus.frames { analysed = analyse(&bus, from: analysed) }
    }
  }

  /// Analyses the frames from `start` up to the end of the hop or of the cycle. Returns the frame
  /// at which it stopped.
  @_noLocks @inline(__always)
  private mutating func analyse(_ bus: inout MixerBus, from start: Int) -> Int {
    // Frames that are too quiet to matter.
    let silence: Float = stage == .perturbing || stage == .lowered ? 0 : 0.0005
    let stop: Int
    if bus.peakBound < silence {
      stop = bands.passSilence(from: start, to: bus.frames)
    } else if bus.peakBound < .infinity && start == 0 && bus.frames <= bands.framesLeft {
      bands.listen(bus.buffer, frames: bus.frames)
      stop = bus.frames
    } else {
      let peak: Float
      (stop, peak) = bands.listen(bus.buffer, from: start, to: bus.frames, silence: silence)
      if bus.peakBound == .infinity { bus.peakBound = peak }
    }
    isOverdriven = leveller.isOverdriven(peak: bus.peakBound)
    return stop
  }

  /// Takes the next step at the end of a hop, or of four, at the frame `end` of the cycle that
  /// begins at `frame`. Four hops are analysed at once while the suppressor listens, and either no
  /// limit is reached or no code may be sent soon.
  @_noLocks @inline(never)
  private mutating func finishHops(at frame: Int, end: Int) {
    hopEnd = end
    let (before, gain) = (bands.levels, reductionDecibels)
    bands.finishHops()
    if bands.hopsAtOnce > 1 { addHops(since: before, gain: gain) }
    history.add(bands.levels, gain: gain)
    lines.add(history.levels(age: 0), at: history.newest)
    hop &+= 1
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
    let isCalm = stage == .listening && (!isHeld || hop &+ Self.maximumHeldHops < schedule.nextHop)
    bands.analyse(hopsAtOnce: isCalm && GrowthLines.isDue(at: history) ? HopLevels.levelHops : 1)
  }

  /// Adds the levels of the hops that were analysed together with the latest one, as steps from the
  /// levels `before` them. The limiters change them by `gain` dB.
  @_noLocks @inline(__always)
  private mutating func addHops(since before: SIMD4<Float>, gain: Float) {
    let step = (bands.levels - before) * (1 / Float(HopLevels.levelHops))
    history.add(before + step, gain: gain)
    history.add(before + step * 2, gain: gain)
    lines.add(history.levels(age: 0), at: history.newest)
    history.add(before + step * 3, gain: gain)
    hop &+= 3
  }

  /// Applies the gains to the microphone in the output. Returns whether a code is being sent.
  @_noLocks @inline(never)
  private mutating func apply(to bus: inout MixerBus) -> Bool {
    perturbation.process(&bus.buffer, frames: bus.frames)
    leveller.process(&bus, isHeld: perturbation.isSending)
    microphoneGain.process(&bus.buffer, frames: bus.frames)
    isTransparent =
      stage == .listening && microphoneGain.isTransparent && perturbation.isTransparent
      && leveller.isTransparent
    return perturbation.isSending
  }
}

/// The steps from a suspicion to a proof.
extension FeedbackSuppressor {
  /// Searches for a band that behaves like a howl, and begins to prove it.
  @_noLocks
  mutating func findCandidate() {
    let hops = bands.hopsAtOnce
    heldHops = isHeld ? min(Self.maximumHeldHops, heldHops &+ hops) : max(0, heldHops &- hops)
    let loudest = bands.loudest
    if bands.levels[loudest] < -55 { return schedule.rest(in: hop) }
    guard hop >= schedule.nextHop else { return }
    if let growing = growingBand() {
      suspect = growing
    } else if heldHops >= 12, history.isSteady(band: loudest, hops: heldHops) {
      suspect = Suspect(band: loudest)
    } else {
      return
    }
    schedule.beginSuspect()
    if isOverdriven { beginStabilizing() } else { sendCode() }
  }

  /// Returns the loudest band that grows as in a loop.
  @_noLocks
  private mutating func growingBand() -> Suspect? {
    // After a howl another one is likely, and the dips of an aborted deep code circulate in a loop
    // for a while; in both cases a line may deviate more.
    let isRough = duckCount > 0 || schedule.isCirculating(in: hop)
    let growths = lines.growths(of: history, spread: isRough ? 2 : 0.3)
    guard any(growths .!= SIMD4(repeating: 0)) else { return nil }
    var found: Suspect?
    var level: Float = -55
    var band = 0
    while band < 4 {
      if growths[band] > 0, bands.levels[band] > level {
        found = Suspect(band: band, growth: growths[band])
        level = bands.levels[band]
      }
      band &+= 1
    }
    return found
  }

  @_noLocks
  mutating func beginStabilizing() {
    stage = .stabilizing
    perturbation.pause()
    leveller.begin()
  }

  /// Waits until the level of a sound that is held low is stable.
  @_noLocks
  mutating func stabilize() {
    switch leveller.follow(gain: reduction, isOverdriven: isOverdriven) {
    case .unstable: return
    case .stable: sendCode()
    case .external: giveUp()
    }
  }

  /// Sends a code.
  @_noLocks
  mutating func sendCode() {
    stage = .perturbing
    bands.bePrecise()
    codeGain = reduction
    let (level, growth) = (history.level(band: suspect.band, age: 0), suspect.growth)
    // The levels at the end of the code, and one second from now.
    let (isDeep, continues) = schedule.begin(
      isUrgent: growth == 0 || isHeld || level + 80 * growth > -6,
      willBeLoud: level + 400 * growth > Self.loudDBFS)
    estimator.begin(history, band: suspect.band, isDeep: isDeep, continues: continues)
    perturbation.begin(isDeep: isDeep, after: hopEnd)
  }

  /// Evaluates one hop of the returned sound.
  @_noLocks
  mutating func measureLoop(at frame: Int) {
    // Another sound masks the code: the code starts again at the current level.
    if isOverdriven || reduction < 0.7 * codeGain {
      if perturbation.isDeep { schedule.abortDeepCode(in: hop) }
      return isOverdriven || leveller.isActive ? beginStabilizing() : sendCode()
    }
    if !perturbation.isDeep && isHeld && !schedule.hasDecayed { return sendCode() }
    if let fit = estimator.listen(
      history, band: suspect.band, energies: bands.energies(band: suspect.band))
    {
      let limited = -reductionDecibels
      if fit.confirmsFeedback(limited: limited) {
        if canWait { return lower(fit, isLoud: false) }
        return fit.needsDecay(limited: limited) && !leveller.isActive
          ? lower(fit, isLoud: true) : duck(fit, at: frame)
      }
      if fit.needsRepeat(limited: limited, isLoud: leveller.isActive) {
        schedule.needsRepeat = true
      }
    }
    if estimator.isOver && schedule.needsRepeat && estimator.codes < 4 {
      // The proof is incomplete. A sound held at the limit has been loud for long enough by now.
      schedule.continueProof()
      if isHeld { beginStabilizing() } else { sendCode() }
    } else if estimator.isOver || hasFallen {
      schedule.end(hasFallen: hasFallen, isDeep: perturbation.isDeep)
      giveUp()
    }
  }

  /// Whether hardly anything is left of the suspect: nothing at all, or 30 dB less than when the
  /// code began, after a time in which a short loop gave its first result.
  private var hasFallen: Bool {
    @_noLocks get {
      let level = history.level(band: suspect.band, age: 0)
      let firstResultHops = PerturbationCode.length(stage: 0) &+ PerturbationCode.chipHops
      return level < -75 || level < estimator.start - 30 && estimator.age > firstResultHops
    }
  }

  /// Ends a test that found no howl.
  @_noLocks
  mutating func giveUp() {
    schedule.fail(in: hop, isGrowing: suspect.growth > 0)
    endTest()
  }

  @_noLocks
  mutating func endTest() {
    switch stage {
    case .stabilizing, .perturbing, .lowered:
      stage = microphoneGain.isRestricted ? .returning : .listening
    case .listening, .ducked, .returning: break
    }
    leveller.end()
    bands.beImprecise()
    perturbation.end()
  }
}
