// Audio thread.

import AudioBasics
import RealtimeAudio

/// Recognises a howl, and lowers the microphone before it hurts. Audio thread.
///
/// A howl is a tone that the loop from the output to the microphone keeps up. Level and pitch alone
/// never tell it from an organ, so it takes two things. The suspicion: a band grows by the same
/// number of dB in the same time (`GrowthLines`), or stands as loud as the limit lets it. The
/// proof: a code of small dips in what is played comes back, and shows a loop whose gain is not
/// below 0 dB (`ProbeSequence`); what sounds outside knows nothing of the code, and in a loop of
/// less gain it is the larger part of what comes back. The dips of a first code are of 0.5 dB;
/// where the sound stands at the limit, or where they say too little, they are of 3 dB. While the
/// code is sent the limiter's gain is held, and what it takes off is known, so that a howl which
/// stands at the limit answers as one that grows freely. Where a howl has overdriven the
/// microphone, dips would not show; it is then held 24 dB below the microphone's full scale first,
/// until it fits again, and so is what stands at the limit and has to be asked once more.
///
/// What is proven and loud is ducked by 40 dB at once. When it has died away the gain returns
/// softly, but only to where the loop's gain, as measured, would be 3 dB below one. Should a howl
/// come back all the same it is held 6 dB lower, and longer; after a time the rest is given back
/// too. As long as it is not loud, the microphone is lowered to where the loop is 3 dB below one,
/// and it counts as a howl if it dies away (`DecayTest`); else it is given back.
public struct FeedbackSuppressor: ~Copyable {
  enum Stage: BitwiseCopyable {
    /// Nothing is suspected, or nothing is proven yet.
    case listening
    /// A sound that overdrives the microphone is held low, until its level stands still.
    case stabilizing
    /// A code of dips is sent.
    case probing
    /// The microphone is a little lower, to see whether the sound dies away.
    case lowered
    /// A howl dies away.
    case ducked
    /// The gain comes back.
    case returning
  }

  /// Howls so far.
  public internal(set) var duckCount = 0
  var ducks = PublishedValue()
  /// Codes sent so far, most of them for nothing.
  public internal(set) var probeCount = 0
  /// Frames of a hop, in which everything here is counted.
  var hopFrames: Int { @_noLocks get { bands.hopFrames } }

  /// What the limiters leave, as a gain and in dB.
  var reduction: Float { @_noLocks get { limiterGain * leveller.gain } }
  var reductionDecibels: Float {
    @_noLocks get { reduction < 1 ? RealtimeDecibels.level(ofPower: reduction * reduction) : 0 }
  }
  /// Whether the limiter, or the microphone itself, holds the sound down.
  var isHeld: Bool { @_noLocks get { isOverdriven || limiterGain < 0.998 } }

  /// The level from which on a tone is loud, a full-scale sine being -3.
  static var loudDBFS: Float { @_noLocks get { -23 } }

  var stage = Stage.listening
  var bands: HopLevels
  var history = LevelHistory()
  var lines = GrowthLines()
  var code = ProbeSequence()
  var events: FeedbackEventWriter
  var gain = SmoothedGain(.unity)
  var dip = SmoothedGain(.unity)
  /// Hops since the beginning.
  var hop = 0
  /// Hops of late in which the limiter, or the microphone itself, held the sound down.
  var heldHops = 0
  var suspect = 0
  var growth: Float = 0
  var limiterGain: Float = 1
  /// No code before this hop.
  var nextProbeHop = 0
  /// When a code of deep dips was last broken off for another one; long ago where none was.
  var brokenCodeHop = -10_000
  var failures = 0
  var stageHop = 0
  var duckedLevel: Float = 0
  var decay = DecayTest()
  /// dB the microphone is lowered by, and at most raised to again.
  var decibels: Float = 0
  var ceiling: Float = 0
  var holdHops = 3750
  var hopsOfCode = 0
  var framesOfHop = 0
  /// Where in the frames of the cycle the latest hop ended, and how many of them are left until the
  /// code begins.
  var hopEnd = 0
  var framesToCode = 0
  /// Whether the dips of the code are deep.
  var isDeep = false
  /// Whether the deep dips of the last code ended the sound before the code was over.
  var hasDecayed = false
  let shallowDip = Gain(attenuation: ProbeSequence.dip(isDeep: false))
  let deepDip = Gain(attenuation: ProbeSequence.dip(isDeep: true))
  private(set) var fullScale: Float
  var isOverdriven = false
  /// Keeps a howl so low that the microphone is not overdriven, while it is being proven.
  var leveller: Limiter
  var isLevelled = false
  var stableGain: Float = 1
  var calmHops = 0
  /// Whether the code found half a proof, and whether the next one goes on from there.
  var needsRepeat = false
  var isContinued = false
  var probedGain: Float = 1

  /// A suppressor for sound of `channelCount` channels that comes to `fullScale` where the
  /// microphone can go no higher. It tells what it does through `events`.
  public init(
    sampleRate: Int, channelCount: Int, fullScale: Float = 1, events: consuming FeedbackEventWriter
  ) {
    self.fullScale = fullScale
    // Slower than a low howl's period, or its gain would follow every crest; fast enough to be back
    // before a howl that was lowered, trip by trip, is lost in the noise.
    leveller = Limiter(
      limit: fullScale, sampleRate: sampleRate, holdSeconds: 0, releaseSeconds: 0.02)
    bands = HopLevels(sampleRate: sampleRate, channelCount: channelCount)
    self.events = events
  }

  /// The microphone comes to `gain` from now on where it can go no higher. Silence changes nothing.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    guard gain.factor > 0 else { return }
    fullScale = gain.factor
    if !isLevelled { leveller.limit = fullScale }
  }

  /// The number of howls that were ducked, as it grows.
  public borrowing func makeDuckView() -> PublishedValueView { ducks.makeView() }

  /// Sound was lost: what came before has nothing to do with what comes.
  @_noLocks
  public mutating func interrupt() {
    history.clear()
    lines.clear()
    switch stage {
    case .probing, .stabilizing: endProbe()
    case .lowered: releaseLowered()
    case .listening, .ducked, .returning: break
    }
  }

  /// Analyses the microphone as it would be played, and lowers it where it howls. The limiter that
  /// comes after it has come to `limiterGain`. Answers whether that has to hold its gain, as it has
  /// to while a code is sent.
  @_noLocks @discardableResult
  public mutating func process(_ bus: inout MixerBus, limiterGain: Float = 1) -> Bool {
    bus.measurePeak()
    self.limiterGain = limiterGain
    analyse(bus.buffer, frames: bus.frames, peak: bus.peakBound, at: bus.time.frame)
    let isProbing = stage == .probing
    let isTransparent =
      gain.isTransparent && !isProbing && dip.isTransparent && leveller.gain == 1 && !isLevelled
    if !isTransparent { apply(to: &bus.buffer, frames: bus.frames) }
    return isProbing
  }

  /// The first `frames` frames of `sound`, which reach up to `peak`, from `frame` on.
  @_noLocks
  private mutating func analyse(
    _ sound: borrowing SampleBuffer, frames: Int, peak: Float, at frame: Int
  ) {
    isOverdriven = peak > 0.99 * fullScale
    var done = 0
    while done < frames {
      if peak < 0.0005 && stage != .probing && stage != .lowered {
        done = bands.passSilence(from: done, to: frames)
      } else {
        done = bands.listen(sound, from: done, to: frames)
      }
      guard bands.isHopOver else { continue }
      bands.finishHop()
      hopEnd = done
      history.add(bands.levels, gain: reductionDecibels)
      lines.addLatest(of: history)
      hop &+= 1
      switch stage {
      case .listening: findCandidate()
      case .stabilizing: stabilize()
      case .probing: probe(at: frame)
      case .lowered: waitForDecay(at: frame)
      case .ducked: waitForQuiet(at: frame)
      case .returning:
        release()
        findCandidate()
      }
    }
  }

  /// Lowers the first `frames` frames of the microphone in the output.
  @_noLocks
  private mutating func apply(to sound: inout SampleBuffer, frames: Int) {
    var done = min(frames, framesToCode)
    framesToCode &-= done
    if !dip.isTransparent { dip.process(&sound, from: 0, frames: done) }
    while stage == .probing && done < frames {
      if framesOfHop == 0 {
        let lowered = isDeep ? deepDip : shallowDip
        dip.glide(to: ProbeCode.isDip(hopsOfCode) ? lowered : .unity, frames: hopFrames)
      }
      let part = min(frames &- done, hopFrames &- framesOfHop)
      dip.process(&sound, from: done, frames: part)
      done &+= part
      framesOfHop &+= part
      if framesOfHop == hopFrames {
        framesOfHop = 0
        hopsOfCode &+= 1
      }
    }
    if done < frames && !dip.isTransparent {
      dip.process(&sound, from: done, frames: frames &- done)
    }
    if isLevelled || leveller.gain != 1 {
      leveller.isHeld = stage == .probing
      leveller.process(&sound, frames: frames)
    }
    gain.process(&sound, frames: frames)
  }
}

/// From a suspicion to a proof.
extension FeedbackSuppressor {
  /// Looks for a band that behaves as a howl would, and begins to prove it.
  @_noLocks
  mutating func findCandidate() {
    heldHops = isHeld ? min(24, heldHops &+ 1) : max(0, heldHops &- 1)
    let loudest = bands.loudest
    if bands.levels[loudest] < -55 {
      if hop &- nextProbeHop > 1500 { failures = 0 }
      return
    }
    guard hop >= nextProbeHop else { return }
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
    isContinued = false
    if isOverdriven { beginStabilizing() } else { sendCode() }
  }

  /// The loudest band that grows as a loop would, and by how many dB a hop.
  @_noLocks
  private mutating func growingBand() -> (band: Int, rise: Float)? {
    // Where it howled before it may howl again, and half a code of deep dips goes round in a loop
    // for a while.
    let isRough = duckCount > 0 || hop &- brokenCodeHop < 375
    let growths = lines.growths(of: history, spread: isRough ? 2 : 0.3)
    guard any(growths .!= SIMD4(repeating: 0)) else { return nil }
    var found: (band: Int, rise: Float)?
    var level: Float = -55
    var band = 0
    while band < 4 {
      if growths[band] > 0, bands.levels[band] > level {
        found = (band, growths[band])
        level = bands.levels[band]
      }
      band &+= 1
    }
    return found
  }

  @_noLocks
  mutating func beginStabilizing() {
    stage = .stabilizing
    stageHop = hop
    calmHops = 0
    isLevelled = true
    leveller.limit = min(leveller.limit, 0.5 * fullScale)
  }

  /// Lowers the limit of what the microphone adds to the output to 24 dB below its full scale, and
  /// waits until the gains that hold a howl down have found their place. What overdrives the
  /// microphone even then comes from outside.
  @_noLocks
  mutating func stabilize() {
    if leveller.limit > 0.08 * fullScale { leveller.limit = 0.6 * leveller.limit }
    if isOverdriven || reduction > 1.06 * stableGain || reduction < 0.94 * stableGain {
      stableGain = reduction
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

  /// Sends a code of shallow dips; of deep ones where the sound is at the limit or soon will be, or
  /// where shallow ones were not enough. Deep ones go round in a loop for long, and a howl grows by
  /// no straight line any more: what is soft has time for shallow ones.
  @_noLocks
  mutating func sendCode() {
    stage = .probing
    bands.bePrecise()
    probedGain = reduction
    let level = history.level(band: suspect, age: 0)
    // Where it will be at the end of the code, and a second from now.
    let isUrgent = growth == 0 || isHeld || level + 80 * growth > -6
    let isSoonLoud = level + 400 * growth > Self.loudDBFS
    isDeep = !hasDecayed && (isUrgent || isContinued || failures >= 2 && isSoonLoud)
    code.begin(history, band: suspect, isDeep: isDeep, continues: isContinued)
    isContinued = false
    needsRepeat = false
    hopsOfCode = 0
    framesOfHop = 0
    framesToCode = hopEnd
  }

  /// Takes a hop of what comes back.
  @_noLocks
  mutating func probe(at frame: Int) {
    // Something came in the way that hides the code: once more, from where it is now.
    if isOverdriven || reduction < 0.7 * probedGain {
      if isDeep { brokenCodeHop = hop }
      return isOverdriven || isLevelled ? beginStabilizing() : sendCode()
    }
    if !isDeep && isHeld && !hasDecayed { return sendCode() }
    if let answer = code.listen(
      history, band: suspect, energies: bands.energies(band: suspect))
    {
      let limited = -reductionDecibels
      if answer.confirmsFeedback(limited: limited) {
        return canWait ? lower(answer) : duck(answer, at: frame)
      }
      if answer.needsRepeat(limited: limited, isLoud: isLevelled) { needsRepeat = true }
    }
    if code.isOver && needsRepeat && code.codes < 4 {
      // Half a proof: what the same again says is added to it. What is held at the limit has been
      // loud for long enough by now.
      isContinued = true
      if isHeld { beginStabilizing() } else { sendCode() }
    } else if code.isOver || history.level(band: suspect, age: 0) < -75 {
      // In a loop as short as a dip many trips are lowered by it: one of 3 dB ends a howl before it
      // is proven.
      hasDecayed = !code.isOver && isDeep
      giveUp()
    }
  }

  /// No howl was found: the next code waits, the longer the more often nothing did.
  @_noLocks
  mutating func giveUp() {
    failures = min(failures &+ 1, growth > 0 ? 3 : needsRepeat ? 5 : 7)
    // 32 ms, 128 ms and 0.5 s. What is held at the limit hurts if it is a howl: it is asked
    // twice more, at once, but later only after 8 s.
    nextProbeHop = hop &+ 3 << (2 &* max(0, failures &- (growth > 0 ? 0 : 2)))
    endProbe()
  }

  @_noLocks
  mutating func endProbe() {
    switch stage {
    case .stabilizing, .probing, .lowered: stage = ceiling < 0 ? .returning : .listening
    case .listening, .ducked, .returning: break
    }
    isLevelled = false
    leveller.limit = fullScale
    bands.beImprecise()
    dip.glide(to: .unity, frames: hopFrames)
  }
}
