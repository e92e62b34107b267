// Audio thread.

/// A test that distinguishes a howl from an external sound by its decay in a loop whose gain is
/// below 0 dB. Nothing sustains a howl in such a loop: it loses the same number of dB in each round
/// trip until nothing is left. An external sound continues, though it may lose the part that the
/// loop added to it: in a loop of -0.3 dB at most 20 dB.
///
/// The rate of the decay gives a second estimate of the loop gain, free of external sounds.
struct DecayTest: BitwiseCopyable {
  /// The gain of the microphone in dB before the test.
  private(set) var gainBefore: Float = 0
  /// The gain of the microphone in dB for as long as the test lasts.
  private(set) var gain: Float = 0

  /// The fall in dB that a howl must show. The slope is measured after the first 3 dB, which take
  /// one round trip longer.
  private static var fall: Float { @_noLocks get { 20 } }
  private static var firstFall: Float { @_noLocks get { 3 } }
  /// The margin in dB below 0 dB to which the loop gain is lowered.
  private static var margin: Float { @_noLocks get { 3 } }
  /// The number of hops after which every test ends: 2 s.
  private static var maximumHops: Int { @_noLocks get { 750 } }
  /// The errors in dB by which the loop gain may be estimated too low: for a round-trip time that
  /// is wrong by three quarters of a half hop, and for a level that is the mean of four hops.
  private static var tripError: Float { @_noLocks get { 1.5 } }
  private static var levelError: Float { @_noLocks get { 0.2 } }

  /// The result of the code for the loop.
  private(set) var fit = LoopFit.none
  private var start: Float = 0
  /// The level in dBFS that a howl does not exceed: it grows as before for one more round trip, and
  /// recovers from the dips of a code.
  private var highest: Float = 0
  private var hops = 0
  /// The number of hops until the level had fallen by the first 3 dB, and the level then, which may
  /// fall in steps of a whole round trip.
  private var firstHops = 0
  private var firstLevel: Float = 0

  /// Creates a placeholder for the time before there is anything to test.
  @_noLocks
  init() {}

  /// Creates a test of the loop that `fit` describes, for a sound at `level` dBFS while the
  /// microphone has a gain of `gain` dB.
  @_noLocks
  init(of fit: LoopFit, level: Float, gain: Float) {
    let loopGain = min(24, max(0, fit.gain))
    gainBefore = gain
    self.gain = max(-40, gain - loopGain - Self.margin)
    self.fit = fit
    start = level
    highest = level + loopGain + 2 * Self.firstFall
  }

  /// Adds the level of the next hop, and whether it is still falling. Returns whether the sound is
  /// a howl; nil as long as that is not clear.
  @_noLocks
  mutating func follow(level: Float, isFalling: Bool) -> Bool? {
    hops &+= 1
    if level > start - Self.firstFall {
      firstHops = 0
    } else if firstHops == 0 {
      (firstHops, firstLevel) = (hops, level)
    }
    if level < start - Self.fall { return hops > firstHops && isLoopAboveUnity(level: level) }
    // Twelve round trips, plus the time of the gain's ramp and of the level's window.
    let isOver = hops > 6 &* fit.lag &+ 24 && !isFalling || hops > Self.maximumHops
    return isOver || level > highest ? false : nil
  }

  /// Returns whether a loop in which a sound has fallen to `level` had a gain of 0 dB or more
  /// before, within the accuracy of the round-trip time.
  @_noLocks
  private func isLoopAboveUnity(level: Float) -> Bool {
    // The lag found by a code is too short by about half of a half hop.
    let trip = 0.5 * Float(fit.lag) + 0.2
    let loss = (firstLevel - level) * trip / Float(hops &- firstHops)
    return gainBefore - gain - loss > -Self.levelError - Self.tripError / Float(fit.lag)
  }
}
