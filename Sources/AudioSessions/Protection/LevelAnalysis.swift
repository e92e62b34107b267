// Audio thread.

import AudioBasics

/// A sound that may be a howl.
struct FeedbackSuspect: BitwiseCopyable {
  /// The reason for the suspicion.
  enum Reason: BitwiseCopyable {
    /// The level rises linearly, by this number of dB per hop.
    case growth(Float)
    /// The level rises as that of the last howl would, by this number of dB per hop.
    case returningHowl(Float)
    /// The level stays at the limit.
    case limit
  }

  var band: Int
  var reason: Reason

  @_noLocks
  init(band: Int, reason: Reason) {
    (self.band, self.reason) = (band, reason)
  }

  /// The growth in dB per hop.
  var growth: Float {
    @_noLocks get {
      switch reason {
      case .growth(let decibels), .returningHowl(let decibels): decibels
      case .limit: 0
      }
    }
  }
  var isGrowing: Bool { @_noLocks get { if case .limit = reason { false } else { true } } }
  var isReturningHowl: Bool {
    @_noLocks get { if case .returningHowl = reason { true } else { false } }
  }
}

/// The levels of a sound in four bands: those of the latest hop, those of the last seconds, and
/// their growth.
struct LevelAnalysis: ~Copyable {
  /// The latest levels, and the filters that measure them.
  var bands: HopLevels
  /// The levels of the last seconds.
  private(set) var history = LevelHistory()
  private var lines = GrowthLines()
  /// The number of hops since the start, the unit of time of the suppressor's counters.
  private(set) var hop = 0

  /// The number of hops, one second, that must be analysed after a pause before a sound is tested.
  /// A code needs the levels of the last 128 hops, and four of the six growth lines have their
  /// whole length.
  private static var hopsAfterPause: Int { @_noLocks get { 384 } }

  init(sampleRate: Int, channelCount: Int) {
    bands = HopLevels(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Forgets the levels of earlier samples.
  @_noLocks
  mutating func clear() {
    history.clear()
    lines.clear()
  }

  /// Analyses the frames from `start` up to the end of the hop or of the cycle, unless all of them
  /// are below `silence`, a magnitude too low to matter. Returns the frame at which it stopped.
  @_noLocks @inline(__always)
  mutating func listen(_ bus: inout MixerBus, from start: Int, silence: Float) -> Int {
    if bands.isPaused || bus.peakBound < silence {
      return bands.passSilence(from: start, to: bus.frames)
    }
    if bus.peakBound < .infinity && start == 0 && bus.frames <= bands.framesLeft {
      bands.listen(bus.buffer, frames: bus.frames)
      return bus.frames
    }
    let (stop, peak) = bands.listen(bus.buffer, from: start, to: bus.frames, silence: silence)
    if bus.peakBound == .infinity { bus.peakBound = peak }
    return stop
  }

  /// Adds the levels of the hop that is over, or of the four that were analysed at once, which the
  /// limiters change by `gain` dB.
  @_noLocks @inline(__always)
  mutating func finishHops(gain: Float) {
    if bands.isPaused { return finishPause() }
    let before = bands.levels
    bands.finishHops()
    if bands.hopsAtOnce > 1 { addHops(since: before, gain: gain) }
    history.add(bands.levels, gain: gain)
    lines.add(history.levels(age: 0), at: history.newest)
    hop &+= 1
  }

  /// Passes `frames` frames of a pause. Returns false, and passes none, if it does not last as
  /// long.
  @_noLocks @inline(__always)
  mutating func passPause(frames: Int) -> Bool {
    guard bands.isPaused && frames < bands.framesLeft else { return false }
    bands.pass(frames: frames)
    return true
  }

  /// Ends a pause, before which all levels are too old.
  @_noLocks @inline(never)
  private mutating func finishPause() {
    hop &+= bands.hopsAtOnce
    bands.finishHops()
    clear()
  }

  /// Adds the levels of the hops that were analysed together with the latest one, as steps from the
  /// levels `before` them.
  @_noLocks @inline(__always)
  private mutating func addHops(since before: SIMD4<Float>, gain: Float) {
    let step = (bands.levels - before) * (1 / Float(HopLevels.levelHops))
    history.add(before + step, gain: gain)
    history.add(before + step * 2, gain: gain)
    lines.add(history.levels(age: 0), at: history.newest)
    history.add(before + step * 3, gain: gain)
    hop &+= 3
  }

  /// Begins the hops after this one; no sound is tested before the hop `nextTest`. While the sound
  /// `isCalm`, the analysis pauses until a second before that hop, or, if that is over, analyses
  /// four hops at once if no growth is searched for before their end.
  @_noLocks @inline(__always)
  mutating func beginHops(isCalm: Bool, nextTest: Int) {
    let pause = nextTest &- hop &- Self.hopsAfterPause
    if isCalm && pause > HopLevels.levelHops { return bands.analyse(hopsAtOnce: pause) }
    let isAtOnce = isCalm && GrowthLines.isDue(at: history)
    bands.analyse(hopsAtOnce: isAtOnce ? HopLevels.levelHops : 1)
  }

  /// Returns a sound in the band of `loop` if it grows by the loop's gain in each round trip, with
  /// an error of up to 0.1 dB plus half of the gain, while the microphone has a gain of `gain` dB.
  @_noLocks @inline(__always)
  mutating func returningHowl(in loop: ProvenLoop, gain: Float) -> FeedbackSuspect? {
    let expected = loop.growth(at: gain)
    guard expected > 0, bands.levels[loop.band] > -50,
      let growth = lines.growth(of: history, band: loop.band, expected: expected),
      abs(growth - expected) < 0.5 * expected + 0.1 / loop.tripHops
    else { return nil }
    return FeedbackSuspect(band: loop.band, reason: .returningHowl(growth))
  }

  /// Returns the loudest band that grows as in a loop, along a line from which it deviates by
  /// `spread` dB or 3 % of its rise.
  @_noLocks @inline(__always)
  mutating func growingBand(spread: Float) -> FeedbackSuspect? {
    let growths = lines.growths(of: history, spread: spread)
    guard any(growths .!= SIMD4(repeating: 0)) else { return nil }
    var found: FeedbackSuspect?
    var level: Float = -55
    var band = 0
    while band < 4 {
      if growths[band] > 0, bands.levels[band] > level {
        found = FeedbackSuspect(band: band, reason: .growth(growths[band]))
        level = bands.levels[band]
      }
      band &+= 1
    }
    return found
  }
}
