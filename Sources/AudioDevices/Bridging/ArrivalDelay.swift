// Audio thread.
import AudioClocks

/// The number of frames that an input's clock may count before the input delivers them, and the
/// part of the delay that allows for them.
///
/// A device that moves in steps (a sound server's quantum, a USB driver's batch) delivers frames a
/// step at a time: right before a step, the clock already counts a whole step that is missing. The
/// number of missing frames is measured for each step. The allowance is the second largest of these
/// numbers in the last seconds, because a single late step does not justify a longer delay. If
/// steps exceed the allowance about once a second, it becomes the eighth largest number.
struct ArrivalDelay: BitwiseCopyable {
  /// The time in nanoseconds after which the search for the largest values starts again.
  private static var window: UInt64 { @_noLocks get { 8_000_000_000 } }

  /// The time in nanoseconds for which steps must exceed the allowance before it is changed.
  private static var confirmationTime: UInt64 { @_noLocks get { 300_000_000 } }

  /// The number of input frames that the delay allows for.
  private(set) var allowedFrames: Int
  private let minimumFrames: Int
  private let maximumFrames: Int
  /// The largest numbers of missing frames since `windowStart`, the largest one first, and the
  /// second largest number of the window before.
  private var largest = SIMD8<Int>()
  private var secondBefore = 0
  /// The largest numbers of frames that arrived at once since `windowStart`, the largest one first.
  /// No step is larger, whatever the times of the readings are relative to the steps.
  private var increments = SIMD8<Int>()
  private var windowStart: UInt64 = 0
  /// The number of frames that the input had delivered at the last reading, and the number of
  /// frames that were missing then.
  private var delivered = 0
  private var missing = 0
  /// The number of missing frames that were not due yet.
  private var spare = 0
  private var wasUnchanged = false
  private var lastPollTime: UInt64 = 0
  /// The time since when steps exceed the allowance, and the time of the last such step.
  private var exceededSince: UInt64 = 0
  private var exceededTime: UInt64 = 0

  /// Creates an allowance of at least `minimumFrames` and at most `maximumFrames`.
  @_noLocks
  init(minimumFrames: Int, maximumFrames: Int) {
    self.minimumFrames = minimumFrames
    self.maximumFrames = max(minimumFrames, maximumFrames)
    allowedFrames = minimumFrames
  }

  /// Resets the readings when the input starts again. The measured allowance is kept.
  @_noLocks
  mutating func restart() {
    delivered = 0
    missing = 0
    spare = 0
    wasUnchanged = false
  }

  /// Records the number of frames that the input has delivered and the position of its clock;
  /// `spare` more frames are not due yet. Returns whether the allowance has changed. If it
  /// `isLearning`, all missing frames count at once. Later only larger steps count, once they have
  /// continued for a while, or frames that are missing about once a second, if the clock has run
  /// undisturbed for `clockSeconds`: a clock that has changed its rate is wrong at first.
  @_noLocks
  mutating func note(
    delivered frames: Int, spare: Int, clock: Double, clockSeconds: Double, at now: UInt64,
    isLearning: Bool
  ) -> Bool {
    let behind = Int(clamping: clock) &- frames
    let isDense = now &- lastPollTime < 2 &* FilteredClock.maximumReadNanoseconds
    lastPollTime = now
    guard frames > delivered else {
      wasUnchanged = true
      missing = max(missing, behind &- spare)
      self.spare = spare
      return false
    }
    // A step that arrived between two readings was missing until shortly before the second reading.
    let increment = frames &- delivered
    let step = wasUnchanged && isDense ? min(increment, behind &+ increment) &- self.spare : 0
    let isFirst = delivered == 0
    let last = max(missing, step)
    if !isFirst { Self.insert(increment &- self.spare, into: &increments) }
    delivered = frames
    missing = behind &- spare
    self.spare = spare
    wasUnchanged = false
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
    let (second, frequent) = (largest[1], min(maximumFrames, largest[7] &+ 2))
    let needed = isOver ? second : max(second, secondBefore)
    let wanted = allowance(for: needed)
    // The allowance is reduced only if steps are smaller, not if they arrive right before the
    // reading: that time changes as the clocks drift.
    let minimum = allowance(for: increments[1])
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
    // Positions of clocks are rounded by up to two frames.
    let isShort = isShort(of: step, at: now) || isLearning && needed > allowedFrames &+ 2
    let isLong = isOver && max(wanted, minimum) < allowedFrames &- allowedFrames / 8 &- 16
    guard isShort && wanted > allowedFrames || isLong else { return false }
    allowedFrames = isLong ? max(wanted, minimum) : wanted
    exceededSince = 0
    return true
  }

  /// Returns the allowance for `frames` missing frames: a sixteenth more, for steps of one size
  /// that arrive at uneven times.
  @_noLocks
  private func allowance(for frames: Int) -> Int {
    max(minimumFrames, min(maximumFrames, frames &+ frames / 16 &+ 2))
  }

  /// Inserts a number into the eight largest, which are sorted with the largest one first.
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

  /// Returns whether steps have exceeded the allowance for a while.
  @_noLocks
  private mutating func isShort(of step: Int, at now: UInt64) -> Bool {
    guard step > allowedFrames &+ 2 else {
      if now &- exceededTime > Self.confirmationTime { exceededSince = 0 }
      return false
    }
    if exceededSince == 0 {
      exceededSince = now
      largest = .zero
      largest[0] = step
    }
    exceededTime = now
    return now &- exceededSince > Self.confirmationTime
  }
}
