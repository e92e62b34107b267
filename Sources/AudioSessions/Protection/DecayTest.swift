// Audio thread.

/// A test that distinguishes a howl from an external sound by its decay in a loop whose gain is
/// below 0 dB. Nothing sustains a howl in such a loop: it loses the same number of dB in each round
/// trip until nothing is left. An external sound continues, though it may lose the part that the
/// loop added to it: in a loop of -0.3 dB at most 20 dB, if the loop is lowered to -3.3 dB, and in
/// a loop of -0.5 dB at most 23 dB, if it is lowered to -14.5 dB.
///
/// The rate of the decay gives a second estimate of the loop gain, free of external sounds.
struct DecayTest: BitwiseCopyable {
  /// The constants of the test of a quiet or of a loud sound.
  private struct Bounds: BitwiseCopyable {
    /// The margin in dB below 0 dB to which the loop gain is lowered. A loud howl must be quiet
    /// after one round trip.
    let margin: Float
    /// The fall in dB that a howl must show, unless it ends in silence.
    let fall: Float
    /// The errors in dB by which the loop gain may be estimated too low: that of the levels, and
    /// that of the round-trip time, which is divided by this time in half hops. A loud howl loses
    /// more in each round trip and decays in fewer of them, so that both are larger.
    let levelError: Float
    let tripError: Float
    /// The error by which the loop gain may be estimated too high: 1 dB plus this error in dB,
    /// which is divided by the round-trip time in half hops. It comes from the ringing of the loop
    /// and from levels that are means of four hops. A sound from outside dies away more slowly.
    let ringingError: Float

    static var quiet: Bounds {
      @_noLocks get {
        Bounds(
          margin: MicrophoneGain.safeMargin, fall: 20, levelError: 0.2, tripError: 1.5,
          ringingError: .infinity)
      }
    }
    static var loud: Bounds {
      @_noLocks get {
        Bounds(margin: 14, fall: 27, levelError: 1.2, tripError: 4, ringingError: 70)
      }
    }
  }

  /// The gain of the microphone in dB before the test.
  private(set) var gainBefore: Float = 0
  /// The gain of the microphone in dB for as long as the test lasts.
  var gain: Float { @_noLocks get { loweredGain(margin: bounds.margin) } }
  /// The gain of the microphone in dB up to which it may be restored after the howl.
  var safeGain: Float { @_noLocks get { loweredGain(margin: MicrophoneGain.safeMargin) } }

  /// The level in dBFS that counts as silence, and the fall in dB that a howl must show if it ends
  /// in silence: in the noise of the microphone, above which a quiet howl is not far enough to fall
  /// by as much as others.
  private static var silence: Float { @_noLocks get { -70 } }
  private static var leastFall: Float { @_noLocks get { 12 } }

  /// The number of hops after which every test ends: 2 s.
  private static var maximumHops: Int { @_noLocks get { 750 } }

  private var bounds = Bounds.quiet
  /// The result of the code for the loop.
  private var fit = LoopFit.none
  private var start: Float = 0
  /// The level in dBFS that a howl does not exceed: it grows as before for one more round trip, and
  /// recovers from the dips of a code.
  private var highest: Float = 0
  private var hops = 0

  /// Creates a placeholder for the time before there is anything to test.
  @_noLocks
  init() {}

  /// Creates a test of the loop that `fit` describes, for a sound at `level` dBFS while the
  /// microphone has a gain of `gain` dB.
  @_noLocks
  init(of fit: LoopFit, level: Float, gain: Float, isLoud: Bool) {
    bounds = isLoud ? .loud : .quiet
    gainBefore = gain
    self.fit = fit
    start = level
    highest = level + loopGain + 6
  }

  /// Returns the tested loop, the howl of which is in `band`.
  @_noLocks
  func loop(band: Int) -> ProvenLoop { ProvenLoop(fit, band: band, gain: gainBefore) }

  /// The gain of the loop in dB before the test, as far as a room can have it.
  private var loopGain: Float { @_noLocks get { min(24, max(0, fit.gain)) } }

  /// Returns the gain of the microphone in dB at which the loop gain is `margin` dB below 0 dB.
  @_noLocks
  private func loweredGain(margin: Float) -> Float { max(-40, gainBefore - loopGain - margin) }

  /// Adds the latest hop of `band`. Returns whether the sound is a howl; nil as long as that is not
  /// clear.
  @_noLocks
  mutating func follow(_ history: borrowing LevelHistory, band: Int) -> Bool? {
    hops &+= 1
    // If the level of a sound varies within a round trip, only the levels of its loudest hops are
    // comparable.
    let level = history.highest(band: band, hops: fit.hops, age: 0)
    if level < max(start - bounds.fall, min(start - Self.leastFall, Self.silence)) {
      return isLoopAboveUnity(history, band: band)
    }
    let isFalling = level < history.highest(band: band, hops: fit.hops, age: 32) - 1
    // Twelve round trips, plus the time of the gain's ramp and of the level's window.
    let isOver = hops > 6 &* fit.lag &+ 24 && !isFalling || hops > Self.maximumHops
    return isOver || level > highest ? false : nil
  }

  /// Returns whether the loop of a sound that has fallen had a gain of 0 dB or more before. Its
  /// levels of the last round trip are compared with those of a whole number of round trips before:
  /// the level falls in steps of a round trip, and the dips of a code circulate in the loop.
  @_noLocks
  private func isLoopAboveUnity(_ history: borrowing LevelHistory, band: Int) -> Bool {
    let trip = fit.tripHops
    let trips = max(1, Int(clamping: Float(hops) / trip) &- 1)
    let distance = max(1, Int(clamping: Float(trips) * trip + 0.5))
    let window = max(1, Int(clamping: trip + 0.5))
    var sum: Float = 0
    var age = 0
    while age < window {
      sum += history.level(band: band, age: age &+ distance) - history.level(band: band, age: age)
      age &+= 1
    }
    let loss = sum * trip / Float(window &* distance)
    let estimate = gainBefore - gain - loss
    return estimate > -bounds.levelError - bounds.tripError / Float(fit.lag)
      && estimate < loopGain + 1 + bounds.ringingError / Float(fit.lag)
  }
}
