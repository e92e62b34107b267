// Audio thread.
import AudioBasics
import RealtimeAudio

/// Recognises a howl and takes the microphone off the ears before it hurts.
///
/// A howl is a tone that the loop from the output to the microphone keeps up. Level and pitch alone
/// never tell it from an organ, so it takes two things. The suspicion: a band grows by the same
/// number of dB in the same time (`LevelHistory`), or stands as loud as the limit lets it. The
/// proof: a code of small dips in what is played comes back (`LoopCode`); what sounds outside knows
/// nothing of it. While the code is sent the limiter's gain is held, so that a howl which stands at
/// the limit is, for the time, a loop of gain one, and answers as one.
///
/// What is proven is ducked by 40 dB at once. When it has died away the gain returns softly, but
/// only to where the loop's gain, as measured, would be 3 dB below one. Should a howl come back
/// all the same it is held 6 dB lower, and longer; after a time the rest is given back too.
public struct FeedbackGuard: ~Copyable {
  enum Stage: UInt8, BitwiseCopyable {
    case listening, settling, probing, ducked, returning
  }

  /// Howls so far.
  public private(set) var duckCount = 0
  /// Codes sent so far, most of them for nothing.
  public private(set) var probeCount = 0
  /// Frames of a hop, in which everything here is counted.
  var hopFrames: Int { @_noLocks get { bands.hopFrames } }

  private var stage = Stage.listening
  private var bands: HopLevels
  private var history = LevelHistory()
  private var code = LoopCode()
  private var news: GuardNewsWriter
  private var gain = GlidingGain(1)
  private var dip = GlidingGain(1)
  /// Hops since the beginning.
  private var hop = 0
  /// Hops for which something stood as loud as can be.
  private var loudHops = 0
  private var suspect = 0
  private var growth: Float = 0
  private var limiterGain: Float = 1
  /// No code before this hop.
  private var patience = 0
  private var failures = 0
  private var stageHop = 0
  private var duckedLevel: Float = 0
  /// dB the microphone is lowered by, and at most raised to again.
  private var decibels: Float = 0
  private var ceiling: Float = 0
  private var holdHops = 3750
  private var hopsOfCode = 0
  private var framesOfHop = 0
  private let dipGain = RealtimeDecibels.gain(LoopCode.depth)
  private let fullScale: Float
  private var isOverdriven = false
  /// Keeps a howl so low that the microphone is not overdriven, while it is being proven.
  private var leveller: Limiter
  private var isLevelled = false
  private var settledGain: Float = 1
  /// A trip that the code before found some sign of, and one that this code does.
  private var hintLag = 0
  private var hints = 0
  private var calmHops = 0
  private var newHintLag = 0
  private var newHintShare: Float = 0
  private var probedLimiterGain: Float = 1

  /// A guard of sound with so many channels that comes to `fullScale` where the microphone can go
  /// no higher. It tells what it does through `news`.
  public init(
    sampleRate: Int, channelCount: Int, fullScale: Float = 1, news: consuming GuardNewsWriter
  ) {
    self.fullScale = fullScale
    leveller = Limiter(limit: fullScale, sampleRate: sampleRate)
    bands = HopLevels(sampleRate: sampleRate, channelCount: channelCount)
    self.news = news
  }

  /// Whether it changes nothing.
  public var isTransparent: Bool {
    @_noLocks get {
      gain.isTransparent && stage != .probing && dip.isTransparent && leveller.gain == 1
        && !isLevelled
    }
  }

  /// Whether it measures what a dip does, and nothing else must move.
  public var isProbing: Bool {
    @_noLocks get { stage == .probing }
  }

  /// Sound was lost: what was heard before has nothing to do with what comes.
  @_noLocks
  public mutating func interrupt() {
    history.clear()
    if stage == .probing || stage == .settling { endProbe() }
  }

  /// Hears the microphone as it would go to the ears: the first `frames` frames of `sound`, which
  /// reach up to `peak`, from `frame` on. `limiterGain` is the limiter's of late.
  @_noLocks
  public mutating func listen(
    to sound: borrowing SampleBuffer, frames: Int, peak: Float, limiterGain: Float, at frame: Int
  ) {
    self.limiterGain = limiterGain
    isOverdriven = peak > 0.99 * fullScale
    var done = 0
    while done < frames {
      if peak < 0.0005 && stage != .probing {
        done = bands.passSilence(from: done, to: frames)
      } else {
        done = bands.listen(sound, from: done, to: frames)
      }
      guard bands.isHopOver else { continue }
      bands.finishHop()
      history.add(bands.levels)
      hop &+= 1
      switch stage {
      case .listening: suspectSomething()
      case .settling: settle()
      case .probing: probe(at: frame)
      case .ducked: waitForQuiet(at: frame)
      case .returning:
        giveBack()
        suspectSomething()
      }
    }
  }

  /// Lowers the first `frames` frames of the microphone's way to the ears.
  @_noLocks
  public mutating func apply(to sound: inout SampleBuffer, frames: Int) {
    var done = 0
    while stage == .probing && done < frames {
      if framesOfHop == 0 {
        dip.glide(to: LoopCodeTable.isDip(hopsOfCode) ? dipGain : 1, frames: hopFrames)
      }
      let part = min(frames &- done, hopFrames &- framesOfHop)
      dip.apply(to: &sound, from: done, frames: part)
      done &+= part
      framesOfHop &+= part
      if framesOfHop == hopFrames {
        framesOfHop = 0
        hopsOfCode &+= 1
      }
    }
    if done < frames && !dip.isTransparent {
      dip.apply(to: &sound, from: done, frames: frames &- done)
    }
    if isLevelled || leveller.gain != 1 {
      leveller.isHeld = stage == .probing
      leveller.apply(to: &sound, frames: frames)
    }
    if !gain.isTransparent { gain.apply(to: &sound, frames: frames) }
  }

  @_noLocks
  private mutating func suspectSomething() {
    loudHops = limiterGain < 0.97 ? min(12, loudHops &+ 1) : max(0, loudHops &- 2)
    let levels = bands.levels
    var loudest = 0
    var band = 1
    while band < 4 {
      if levels[band] > levels[loudest] { loudest = band }
      band &+= 1
    }
    if levels[loudest] < -55 {
      if hop &- patience > 1500 { failures = 0 }
      return
    }
    guard hop >= patience else { return }
    band = 0
    var found = -1
    while band < 4 {
      if levels[band] > -55, found < 0 || levels[band] > levels[found],
        let rise = history.growth(band: band)
      {
        found = band
        growth = rise
      }
      band &+= 1
    }
    if found < 0, loudHops >= 12 || history.standsLoud(band: loudest) {
      found = loudest
      growth = 0
    }
    guard found >= 0 else { return }
    suspect = found
    probeCount &+= 1
    bands.beginPitch()
    hintLag = 0
    hints = 0
    if isOverdriven || limiterGain < 0.97 {
      beginSettling(isLevelled: isOverdriven || growth > 0)
    } else {
      sendCode()
    }
  }

  @_noLocks
  private mutating func beginSettling(isLevelled: Bool) {
    stage = .settling
    stageHop = hop
    calmHops = 0
    guard isLevelled else { return }
    self.isLevelled = true
    leveller.lower(to: 0.5 * fullScale)
  }

  /// Waits until the gains that hold a howl down have found their place, with what the microphone
  /// adds to the output 20 dB lower where it grew to where it is, or the microphone is overdriven.
  /// What overdrives it even then comes from outside.
  @_noLocks
  private mutating func settle() {
    if isLevelled && leveller.limit > 0.08 * fullScale {
      leveller.lower(to: 0.6 * leveller.limit)
    }
    let held = limiterGain * leveller.gain
    if isOverdriven || held > 1.06 * settledGain || held < 0.94 * settledGain {
      settledGain = held
      calmHops = 0
    }
    calmHops &+= 1
    let waited = hop &- stageHop
    if calmHops >= (isLevelled ? 26 : 8) || (waited > 75 && !isOverdriven) {
      sendCode()
    } else if waited > 75 {
      giveUp()
    }
  }

  @_noLocks
  private mutating func sendCode() {
    stage = .probing
    probedLimiterGain = limiterGain
    code.begin()
    newHintLag = 0
    newHintShare = 0
    hopsOfCode = 0
    framesOfHop = 0
  }

  @_noLocks
  private mutating func probe(at frame: Int) {
    // Something came in the way that hides the code: once more, from where it is now.
    if isOverdriven || limiterGain < 0.85 * probedLimiterGain {
      return beginSettling(isLevelled: isOverdriven || growth > 0)
    }
    if let answer = code.listen(history, band: suspect), isProof(answer) {
      duck(answer, at: frame)
    } else if code.isOver && newHintLag > 0 && hints < 2 {
      // Half a proof: the same again, and it is a whole one.
      hintLag = newHintLag
      hints &+= 1
      sendCode()
    } else if code.isOver || history.level(band: suspect, age: 0) < -75 {
      giveUp()
    }
  }

  @_noLocks
  private mutating func giveUp() {
    failures = min(failures &+ 1, growth > 0 ? 3 : 5)
    // 32 ms, 128 ms, 0.5 s; where nothing grows 2 and 8 as well.
    patience = hop &+ 3 << (2 &* failures)
    endProbe()
  }

  @_noLocks
  private mutating func isProof(_ answer: LoopCode.Answer) -> Bool {
    guard answer.slope < 8 else { return false }
    if answer.slope > 0.85 && answer.share > (answer.stage == 0 ? 0.9 : 0.85) { return true }
    guard answer.stage > 0 else { return false }
    if answer.share > 0.7 && answer.gain > 2 && answer.slope > 0.8 && answer.slope < 1.3 {
      return true
    }
    // A loop that a resonance slows down answers with less at each lag, but as surely.
    guard answer.slope > 0.8 && answer.share > 0.5 || answer.slope > 0.3 && answer.share > 0.65
    else { return false }
    if hintLag > 0 && abs(answer.lag &- hintLag) <= 2 { return true }
    if answer.share > newHintShare {
      newHintShare = answer.share
      newHintLag = answer.lag
    }
    return false
  }

  @_noLocks
  private mutating func endProbe() {
    if stage != .ducked { stage = ceiling < 0 ? .returning : .listening }
    isLevelled = false
    leveller.lower(to: fullScale)
    bands.findsPitch = false
    dip.glide(to: 1, frames: hopFrames)
  }

  @_noLocks
  private mutating func duck(_ answer: LoopCode.Answer, at frame: Int) {
    let reduction = limiterGain * leveller.gain
    let limited = -RealtimeDecibels.level(ofPower: reduction * reduction)
    let loopGain = min(24, max(limited, max(answer.gain, growth * Float(answer.lag) / 2)))
    let isRelapse = ceiling < 0
    ceiling = max(-40, min(isRelapse ? decibels - 6 : 0, decibels - max(0, loopGain) - 3))
    if isRelapse { holdHops = min(60000, holdHops &* 2) }
    duckCount &+= 1
    failures = 0
    duckedLevel = history.level(band: suspect, age: 0)
    news.tell(isDucked: true, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .ducked
    stageHop = hop
    decibels = -40
    gain.glide(to: RealtimeDecibels.gain(-40), frames: 2 &* hopFrames)
    endProbe()
  }

  /// The howl dies away in at least a third of a second; two seconds are enough for any.
  @_noLocks
  private mutating func waitForQuiet(at frame: Int) {
    let level = history.level(band: suspect, age: 0)
    let waited = hop &- stageHop
    guard waited > 125, level < max(-55, duckedLevel - 20) || waited > 750 else { return }
    news.tell(isDucked: false, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .returning
    stageHop = hop
  }

  /// 15 dB a second up to the ceiling, and after a time 1 dB a second beyond it.
  @_noLocks
  private mutating func giveBack() {
    if decibels < ceiling {
      decibels = min(ceiling, decibels + 0.04)
      stageHop = hop
    } else if hop &- stageHop > holdHops {
      ceiling = min(0, ceiling + 0.002_67)
      decibels = ceiling
    } else {
      return
    }
    gain.glide(to: RealtimeDecibels.gain(decibels), frames: hopFrames)
    if ceiling == 0 && decibels == 0 {
      gain.jump(to: 1)
      stage = .listening
    }
  }
}
