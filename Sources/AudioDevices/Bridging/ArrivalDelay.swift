// Audio thread.
import AudioClocks

/// The number of frames that an input's clock may count before the input delivers them, and the
/// part of a delay that allows for them.
///
/// A device that moves in steps (a sound server's quantum, a USB driver's batch) delivers frames a
/// step at a time: right before a step, a whole step is missing that its clock counts already. How
/// many are missing is measured for each step. The allowance is the second largest of them in the
/// last seconds, because a single step that came late is no reason for a longer delay. One that
/// steps exceed about once a second becomes the eighth largest.
struct ArrivalDelay: BitwiseCopyable {
  /// Nanoseconds after which the largest values are looked for anew.
  private static var window: UInt64 { @_noLocks get { 8_000_000_000 } }

  /// Nanoseconds for which steps must be larger than what is allowed for until that is changed.
  private static var confirmationTime: UInt64 { @_noLocks get { 300_000_000 } }

  /// Input frames that the delay allows for.
  private(set) var allowedFrames: Int
  private let leastFrames: Int
  private let mostFrames: Int
  /// The largest numbers of missing frames since `windowStart`, the largest one first, and the
  /// second largest of the window before.
  private var largest = SIMD8<Int>()
  private var secondBefore = 0
  /// The largest numbers of frames that came at once since `windowStart`, the largest one first. No
  /// step is larger, however the times at which the input is asked lie between its steps.
  private var increments = SIMD8<Int>()
  private var windowStart: UInt64 = 0
  /// What the input had delivered when it was last asked, and how many frames were missing then.
  private var delivered = 0
  private var missing = 0
  /// Of the missing frames, those that were not due yet.
  private var spare = 0
  private var hasStood = false
  private var lookTime: UInt64 = 0
  /// Since when steps are larger than what is allowed for, and when the last of them came.
  private var shortSince: UInt64 = 0
  private var shortTime: UInt64 = 0

  /// Allows for `leastFrames` at least and for `mostFrames` at most.
  @_noLocks
  init(leastFrames: Int, mostFrames: Int) {
    self.leastFrames = leastFrames
    self.mostFrames = max(leastFrames, mostFrames)
    allowedFrames = leastFrames
  }

  /// The input starts anew: what was learned of it stays.
  @_noLocks
  mutating func restart() {
    delivered = 0
    missing = 0
    spare = 0
    hasStood = false
  }

  /// Takes what the input has delivered so far and what its clock says; `spare` frames more are not
  /// due yet. True where the allowance is another one now. While it `isLearning` all that is
  /// missing counts at once. Later only larger steps count, once they have gone on for a while, or
  /// what is missing about once a second while the clock has run undisturbed for `clockSeconds`:
  /// one that has changed its rate is wrong at first.
  @_noLocks
  mutating func note(
    delivered frames: Int, spare: Int, clock: Double, clockSeconds: Double, at now: UInt64,
    isLearning: Bool
  ) -> Bool {
    let behind = Int(clamping: clock) &- frames
    let isDense = now &- lookTime < 2 &* FilteredClock.mostLookNanoseconds
    lookTime = now
    guard frames > delivered else {
      hasStood = true
      missing = max(missing, behind &- spare)
      self.spare = spare
      return false
    }
    // A step that came between two readings was missing until shortly before the second one.
    let increment = frames &- delivered
    let step = hasStood && isDense ? min(increment, behind &+ increment) &- self.spare : 0
    let isFirst = delivered == 0
    let last = max(missing, step)
    if !isFirst { Self.insert(increment &- self.spare, into: &increments) }
    delivered = frames
    missing = behind &- spare
    self.spare = spare
    hasStood = false
    let isSure = clockSeconds > Double(Self.window) * 1e-9
    return isFirst
      ? false : take(last, step: step, at: now, isLearning: isLearning, isSure: isSure)
  }

  @_noLocks
  private mutating func take(
    _ missing: Int, step: Int, at now: UInt64, isLearning: Bool, isSure: Bool
  ) -> Bool {
    if windowStart == 0 { windowStart = now }
    Self.insert(missing, into: &largest)
    let isOver = now &- windowStart > Self.window
    let (second, frequent) = (largest[1], min(mostFrames, largest[7] &+ 2))
    let needed = isOver ? second : max(second, secondBefore)
    let wanted = allowance(for: needed)
    // Less only where steps are smaller, not where they come right before the input is asked: that
    // changes as the clocks drift.
    let least = allowance(for: increments[1])
    if isOver {
      increments = .zero
      secondBefore = second
      largest = .zero
      windowStart = now
    }
    if isOver && isSure && frequent > allowedFrames &+ 2 {
      allowedFrames = frequent
      return true
    }
    // Two frames are what positions of clocks are rounded by.
    let isShort = isShort(of: step, at: now) || isLearning && needed > allowedFrames &+ 2
    let isLong = isOver && max(wanted, least) < allowedFrames &- allowedFrames / 8 &- 16
    guard isShort && wanted > allowedFrames || isLong else { return false }
    allowedFrames = isLong ? max(wanted, least) : wanted
    shortSince = 0
    return true
  }

  /// The allowance for `frames` missing frames: a sixteenth more, for steps of one size that do not
  /// come at even times.
  @_noLocks
  private func allowance(for frames: Int) -> Int {
    max(leastFrames, min(mostFrames, frames &+ frames / 16 &+ 2))
  }

  /// Keeps the eight largest numbers, the largest one first.
  @_noLocks
  private static func insert(_ frames: Int, into largest: inout SIMD8<Int>) {
    guard frames > largest[7] else { return }
    var rank = 7
    while rank > 0 && largest[rank &- 1] < frames {
      largest[rank] = largest[rank &- 1]
      rank &-= 1
    }
    largest[rank] = frames
  }

  /// Whether steps have been larger than what is allowed for, for a while.
  @_noLocks
  private mutating func isShort(of step: Int, at now: UInt64) -> Bool {
    guard step > allowedFrames &+ 2 else {
      if now &- shortTime > Self.confirmationTime { shortSince = 0 }
      return false
    }
    if shortSince == 0 {
      shortSince = now
      largest = .zero
      largest[0] = step
    }
    shortTime = now
    return now &- shortSince > Self.confirmationTime
  }
}
