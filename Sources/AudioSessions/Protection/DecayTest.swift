// Audio thread.

/// Tells a howl from what comes from outside by what becomes of it where the loop's gain is below 0
/// dB: a howl has nothing that keeps it up, and loses the same number of dB in each trip until
/// nothing is left of it. A sound from outside stays, though it may lose what the loop added to it:
/// in a loop of -0.3 dB at most 20 dB.
///
/// How fast it dies away says once more what gain the loop has, free of what sounds outside.
struct DecayTest: BitwiseCopyable {
  /// The gain of the microphone in dB before the test.
  private(set) var gainBefore: Float = 0
  /// The gain of the microphone in dB for as long as the test lasts.
  private(set) var gain: Float = 0

  /// dB by which a howl has to fall. The slope is measured behind the first three of them, which
  /// take a trip longer.
  private static var fall: Float { @_noLocks get { 20 } }
  private static var firstFall: Float { @_noLocks get { 3 } }
  /// dB below 0 that the loop's gain is brought to.
  private static var margin: Float { @_noLocks get { 3 } }
  /// Hops after which no test goes on: 2 s.
  private static var mostHops: Int { @_noLocks get { 750 } }
  /// By how many dB the loop's gain may come out too low: an error of a trip's length of three
  /// quarters of a half hop, and of a level that is the mean of four hops.
  private static var tripError: Float { @_noLocks get { 1.5 } }
  private static var levelError: Float { @_noLocks get { 0.2 } }

  /// What a code said of the loop.
  private(set) var answer = LoopAnswer.none
  private var start: Float = 0
  /// What a howl does not exceed: for one more trip it grows as before, and comes out of the dips
  /// of a code.
  private var highest: Float = 0
  private var hops = 0
  /// Hops until the first dB had gone, and the level then, which may fall in steps of a whole trip.
  private var firstHops = 0
  private var firstLevel: Float = 0

  /// Before there is anything to test.
  @_noLocks
  init() {}

  /// A test of the loop that `answer` describes, in which a sound is at `level` dBFS while the
  /// microphone has `gain` dB.
  @_noLocks
  init(of answer: LoopAnswer, level: Float, gain: Float) {
    let loopGain = min(24, max(0, answer.gain))
    gainBefore = gain
    self.gain = max(-40, gain - loopGain - Self.margin)
    self.answer = answer
    start = level
    highest = level + loopGain + 2 * Self.firstFall
  }

  /// Takes the level of the next hop, and whether it is still falling. Says whether it is a howl
  /// once that is clear.
  @_noLocks
  mutating func follow(level: Float, isFalling: Bool) -> Bool? {
    hops &+= 1
    if level > start - Self.firstFall {
      firstHops = 0
    } else if firstHops == 0 {
      (firstHops, firstLevel) = (hops, level)
    }
    if level < start - Self.fall { return hops > firstHops && isLoopAboveUnity(level: level) }
    // Twelve trips, and what the glide of the gain and the window of a level take.
    let isOver = hops > 6 &* answer.lag &+ 24 && !isFalling || hops > Self.mostHops
    return isOver || level > highest ? false : nil
  }

  /// Whether a loop in which a sound has fallen to `level` had 0 dB or more before, as well as the
  /// length of a trip is known.
  @_noLocks
  private func isLoopAboveUnity(level: Float) -> Bool {
    // Codes find trips that are shorter by some half of a half hop.
    let trip = 0.5 * Float(answer.lag) + 0.2
    let loss = (firstLevel - level) * trip / Float(hops &- firstHops)
    return gainBefore - gain - loss > -Self.levelError - Self.tripError / Float(answer.lag)
  }
}
