// Audio thread.

/// The schedule of the codes of a suppressor: the hop from which on the next one may be sent, the
/// depth of its dips, and whether its evidence is added to that of the code before.
struct PerturbationSchedule: BitwiseCopyable {
  /// The first hop in which a code may be sent again.
  private(set) var nextHop = 0
  /// Whether the deep dips of the last code ended the sound before the code was over.
  private(set) var hasDecayed = false
  /// Whether the code gave only a part of a proof.
  var needsRepeat = false

  /// Whether the next code adds to that part.
  private var isContinued = false
  /// The number of codes since the last howl that found none, as far as it matters.
  private var failures = 0
  /// The hop in which a code of deep dips was last aborted to start another one; a hop in the
  /// distant past if none was.
  private var abortedHop = -10_000

  /// Begins the test of another sound.
  @_noLocks
  mutating func beginSuspect() { isContinued = false }

  /// Begins a code. Shallow dips are the first choice: deep dips circulate in a loop for long, and
  /// a howl no longer grows linearly in dB after them. They are needed if the sound `isUrgent`,
  /// since it is at the limit or soon will be, or if shallow dips were not enough and the sound
  /// `willBeLoud`. Returns whether the dips are deep, and whether the evidence of the code before
  /// is kept.
  @_noLocks
  mutating func begin(isUrgent: Bool, willBeLoud: Bool) -> (isDeep: Bool, continues: Bool) {
    defer { (isContinued, needsRepeat) = (false, false) }
    let isDeep = !hasDecayed && (isUrgent || isContinued || failures >= 2 && willBeLoud)
    return (isDeep, isContinued)
  }

  /// Notes that the next code adds to the evidence of this one.
  @_noLocks
  mutating func continueProof() { isContinued = true }

  /// Notes that a code of deep dips was aborted in `hop`.
  @_noLocks
  mutating func abortDeepCode(in hop: Int) { abortedHop = hop }

  /// Notes that the code is over, or that nothing is left of the sound. If the round trip is short
  /// compared with a dip, a dip attenuates the sound in each of many round trips: a dip of 3 dB
  /// then ends a howl before it is proven.
  @_noLocks
  mutating func end(hasFallen: Bool, isDeep: Bool) { hasDecayed = hasFallen && isDeep }

  /// Notes that a test that ended in `hop` found no howl. The delay until the next code grows with
  /// the number of failures: 32 ms, 128 ms and 0.5 s. A sound held at the limit, which does not
  /// grow, is painful if it is a howl: it is tested twice more at once, but later only after 8 s. A
  /// sound that is certainly `external` counts as two failures.
  @_noLocks
  mutating func fail(in hop: Int, isGrowing: Bool, isExternal: Bool) {
    let failure = isExternal ? 2 : 1
    failures = min(failures &+ failure, isGrowing ? 3 : needsRepeat ? 5 : 7)
    nextHop = hop &+ 3 << (2 &* max(0, failures &- (isGrowing ? 0 : 2)))
  }

  /// Forgets the failures, after a howl.
  @_noLocks
  mutating func forgetFailures() { failures = 0 }

  /// Forgets the failures if `hop`, in which all is quiet, is long after them.
  @_noLocks
  mutating func rest(in hop: Int) {
    if hop &- nextHop > 1500 { failures = 0 }
  }

  /// Whether the dips of an aborted deep code may still circulate in the loop.
  @_noLocks
  func isCirculating(in hop: Int) -> Bool { hop &- abortedHop < 375 }
}
