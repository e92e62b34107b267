// Audio thread.
import AudioBasics
import RealtimeAudio

/// Recognises a howl and takes the microphone off the ears before it hurts.
///
/// A howl is a tone that the loop from the output to the microphone keeps up. Level and pitch alone
/// never tell it from an organ, so it takes two things. The suspicion: a band grows by the same
/// number of dB in the same time (`LevelHistory`), or stands as loud as the limit lets it. The
/// proof: a code of small dips in what is played comes back (`LoopCode`); what sounds outside knows
/// nothing of it. While the code is sent the limiter's gain is held, and what it takes off is known,
/// so that a howl which stands at the limit answers as one that grows freely. Where a howl has
/// overdriven the microphone, dips would not show; it is then held 22 dB lower first, until it fits
/// again, and so is what has to be asked twice.
///
/// What is proven is ducked by 40 dB at once. When it has died away the gain returns softly, but
/// only to where the loop's gain, as measured, would be 3 dB below one. Should a howl come back
/// all the same it is held 6 dB lower, and longer; after a time the rest is given back too.
public struct FeedbackGuard: ~Copyable {
  enum Stage: BitwiseCopyable {
    case listening, settling, probing, ducked, returning
  }

  /// Howls so far.
  public internal(set) var duckCount = 0
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
  var isHeld: Bool { @_noLocks get { isOverdriven || limiterGain < 0.985 } }

  var stage = Stage.listening
  var bands: HopLevels
  var history = LevelHistory()
  var code = LoopCode()
  var news: GuardNewsWriter
  var gain = GlidingGain(1)
  var dip = GlidingGain(1)
  /// Hops since the beginning.
  var hop = 0
  /// Hops of late in which the limiter, or the microphone itself, held the sound down.
  var heldHops = 0
  var suspect = 0
  var growth: Float = 0
  var limiterGain: Float = 1
  /// No code before this hop.
  var patience = 0
  var failures = 0
  var stageHop = 0
  var duckedLevel: Float = 0
  /// dB the microphone is lowered by, and at most raised to again.
  var decibels: Float = 0
  var ceiling: Float = 0
  var holdHops = 3750
  var hopsOfCode = 0
  var framesOfHop = 0
  let dipGain = RealtimeDecibels.gain(LoopCode.depth)
  let fullScale: Float
  var isOverdriven = false
  /// Keeps a howl so low that the microphone is not overdriven, while it is being proven.
  var leveller: Limiter
  var isLevelled = false
  var settledGain: Float = 1
  /// A trip that the code before found some sign of, and one that this code does.
  var hintLag = 0
  var calmHops = 0
  var newHintLag = 0
  var newHintShare: Float = 0
  var probedGain: Float = 1

  /// A guard of sound with so many channels that comes to `fullScale` where the microphone can go
  /// no higher. It tells what it does through `news`.
  public init(
    sampleRate: Int, channelCount: Int, fullScale: Float = 1, news: consuming GuardNewsWriter
  ) {
    self.fullScale = fullScale
    // Slower than a low howl's period, or its gain would follow every crest; fast enough to be back
    // before a howl that was lowered, trip by trip, is lost in the noise.
    leveller = Limiter(limit: fullScale, sampleRate: sampleRate, releaseSeconds: 0.02)
    bands = HopLevels(sampleRate: sampleRate, channelCount: channelCount)
    self.news = news
  }

  /// Whether it changes nothing. It could be a property, but to read one of what an optional holds
  /// Swift copies all of it.
  @_noLocks
  public mutating func isTransparent() -> Bool {
    gain.isTransparent && stage != .probing && dip.isTransparent && leveller.gain == 1
      && !isLevelled
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
      history.add(bands.levels, gain: reductionDecibels)
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

  /// Has `limiter` hold its gain while a dip is measured, and nothing else must move.
  @_noLocks
  public mutating func steady(_ limiter: inout Limiter?) {
    limiter?.isHeld = stage == .probing
  }

  /// Makes the number of howls known.
  @_noLocks
  public mutating func publish(to count: inout CountPublisher) {
    count.publish(duckCount)
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
}
