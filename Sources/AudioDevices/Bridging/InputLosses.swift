// Audio thread.

/// The frames of an input that were lost or replaced by silence since the last report to the unit,
/// in unit frames.
struct InputLosses: BitwiseCopyable {
  private var lostFrames = 0
  private var concealedFrames = 0
  /// Whether a gap is open that counts as replaced by silence once its length is known.
  private var isGapConcealed = false
  /// The number of frames of that gap that the timeline leaves out: they count as lost.
  private var leftOutFrames = 0
  /// The number of frames of the last gap that were replaced by silence and not reported yet.
  private var silentGapFrames = 0
  /// The time at which the input was last too late for its cycle, and whether that must still be
  /// reported.
  private var lateSince: UInt64 = 0
  private var isLatenessUnreported = false

  /// Adds `frames` frames that were lost.
  @_noLocks
  mutating func addLost(_ frames: Int) {
    lostFrames += frames
    if isGapConcealed { leftOutFrames += frames }
    let silent = min(frames, silentGapFrames)
    concealedFrames -= silent
    silentGapFrames -= silent
  }

  /// Adds `frames` frames that were replaced by silence.
  @_noLocks
  mutating func addConcealed(_ frames: Int) { concealedFrames += frames }

  /// Begins a gap of unknown length, which is replaced by silence if it `isConcealed`.
  @_noLocks
  mutating func beginGap(isConcealed: Bool) {
    // An open gap continues.
    if !isGapConcealed { leftOutFrames = 0 }
    isGapConcealed = isConcealed
  }

  /// Ends the gap, which is `frames` frames long.
  @_noLocks
  mutating func endGap(_ frames: Int) {
    if isGapConcealed {
      silentGapFrames = max(0, frames - leftOutFrames)
      concealedFrames += silentGapFrames
    }
    isGapConcealed = false
  }

  /// Records that the input was late for a cycle at `now`. Successive cycles are reported once.
  @_noLocks
  mutating func noteLateness(at now: UInt64, isReported: Bool) {
    let isNew = now &- lateSince > 1_000_000_000
    lateSince = now
    if isNew && isReported { isLatenessUnreported = true }
  }

  /// Returns whether the input was late since the last report.
  @_noLocks
  mutating func takeLateness() -> Bool {
    defer { isLatenessUnreported = false }
    return isLatenessUnreported
  }

  /// Returns the number of lost frames.
  @_noLocks
  mutating func takeLost() -> Int {
    defer { lostFrames = 0 }
    return lostFrames
  }

  /// Returns the number of frames replaced by silence; nil while a gap that counts is open.
  @_noLocks
  mutating func takeConcealed() -> Int? {
    if isGapConcealed { return nil }
    defer { (concealedFrames, silentGapFrames) = (0, 0) }
    return concealedFrames
  }
}
