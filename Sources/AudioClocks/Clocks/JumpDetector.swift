// Audio thread.

/// A sudden change of a clock: the earliest reading that shows it, and the frames by which that
/// reading is ahead of the estimate.
enum ClockChange: BitwiseCopyable, Sendable {
  /// The clock is at another position because the device stalled for a moment or was moved forward.
  case position(ClockReading, lead: Double)
  /// The clock runs at another rate.
  case rate(ClockReading, lead: Double)
}

/// Detects sudden changes of a clock by the earliest reading of each 100 ms.
///
/// If a clock is off by more than chance allows and was not off before, it is at another position,
/// as a device of a sound server is after a missed cycle. If the error keeps growing, the clock
/// runs at another rate. A change that could be either counts as another position, and then as
/// another rate if the clock is soon off in the same direction again.
struct JumpDetector: BitwiseCopyable, Sendable {
  /// The length in nanoseconds of a stretch whose earliest reading counts.
  static var stretchNanoseconds: UInt64 { @_noLocks get { 100_000_000 } }
  /// The nanoseconds after a jump within which it may turn out to be another rate.
  private static let jumpMemory: UInt64 = 500_000_000
  /// The nanoseconds after a sudden change within which it explains an error of the clock.
  private static let suddenMemory: UInt64 = 4_000_000_000
  /// The nanoseconds after which an estimate has settled and the lateness of readings can be
  /// measured.
  private static let settledNanoseconds: UInt64 = 4_000_000_000
  /// The largest number of stretches in the mean of the lateness.
  private static let maximumLatenessCount = 1000.0
  /// The smallest error of a clock, in seconds, that can be a jump.
  private static let minimumSeconds = 0.00025
  /// The largest error in seconds that another rate causes between a jump and the stretch before
  /// it, for a rate error of 10,000 ppm.
  private static let maximumRateSeconds = 0.003

  private let nominalFramesPerSecond: Double
  private var stretch = ReadingStretch()
  /// The leads, in frames, of the earliest readings of the last two stretches.
  private var leads = (older: 0.0, newer: 0.0)
  /// The time in nanoseconds of the last `begin`, and the frames by which the clock jumped then.
  private var begunNanoseconds: UInt64 = 0
  private var jumpFrames = 0.0
  /// The mean lateness, in frames, of a stretch's earliest reading relative to a settled estimate,
  /// and the number of stretches in that mean.
  private var meanLateness = 0.0
  private var latenessCount = 0.0
  /// The mean lateness at the last `begin`.
  private var knownLateness = 0.0
  /// The last change of the lead that is more than chance, in frames, and its time in nanoseconds.
  private var suddenFrames = 0.0
  private var suddenNanoseconds: UInt64 = 0

  /// Creates a detector for a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
  }

  /// Discards all readings. `frames` is the size of the jump that the clock has just made, or 0.
  @_noLocks
  mutating func begin(at time: UInt64, jump frames: Double) {
    stretch = ReadingStretch(since: time)
    leads = (0, 0)
    jumpFrames = frames
    suddenFrames = 0
    begunNanoseconds = time
    knownLateness = max(0, meanLateness)
  }

  /// Returns the usual lateness in frames of the earliest reading within `nanoseconds`. The
  /// earliest of n readings that are equally likely to be late by 0 to L is late by L / (n + 1), so
  /// twice the time halves the lateness. 0 for the first estimate, which continues no other.
  @_noLocks
  func lateness(in nanoseconds: UInt64) -> Double {
    knownLateness * Double(Self.stretchNanoseconds)
      / Double(max(Self.stretchNanoseconds, nanoseconds))
  }

  /// Updates the mean lateness of the earliest reading of a stretch, if chance explains the error.
  /// If readings are late by `uncertainty` on average, one in 400 is late by six times that. A
  /// larger error is one of the estimate, after a small step of the rate. Such errors would bias
  /// the mean to one side, because a clock that becomes faster is noticed sooner.
  @_noLocks
  private mutating func learnLateness(from lead: Double, uncertainty: Double, at time: UInt64) {
    guard time &- begunNanoseconds > Self.settledNanoseconds,
      abs(lead + meanLateness) < 6 * uncertainty
    else { return }
    latenessCount = min(Self.maximumLatenessCount, latenessCount + 1)
    meanLateness -= (lead + meanLateness) / latenessCount
  }

  /// Adds a reading that is ahead of the estimate by `lead` frames.
  @_noLocks
  mutating func take(_ reading: ClockReading, lead: Double) {
    stretch.take(reading, lead: lead)
  }

  /// Adjusts the leads because the estimate passes through the earliest reading from now on.
  @_noLocks
  mutating func moveEstimateToEarliest() { stretch.moveEstimateToEarliest() }

  /// Returns the least time in nanoseconds between corrections of the estimate. It is longer soon
  /// after a jump, so that the estimate does not take another rate for noise.
  @_noLocks
  func minimumStretch(at time: UInt64) -> UInt64 {
    isAfterJump(at: time) ? Self.jumpMemory : Self.stretchNanoseconds
  }

  /// Returns whether the lead of `lead` frames arose suddenly in the last seconds.
  @_noLocks
  func isSudden(_ lead: Double, at time: UInt64) -> Bool {
    time &- suddenNanoseconds < Self.suddenMemory && abs(suddenFrames - lead) < abs(lead) / 2
  }

  /// Ends the stretch if it is 100 ms long and has four readings, and returns the change of the
  /// clock, or nil if there is none. `noise` is the usual error of the earliest readings in frames,
  /// and `lateness` the mean lateness of readings in frames.
  @_noLocks
  mutating func change(at time: UInt64, noise: Double, lateness: Double) -> ClockChange? {
    guard time &- stretch.since >= Self.stretchNanoseconds, stretch.count > 3 else { return nil }
    let (lead, reading) = (stretch.lead, stretch.earliest)
    let uncertainty = ReadingStretch.uncertainty(lateness: lateness, count: stretch.count)
    let change = lead - leads.older
    leads = (leads.newer, lead)
    stretch = ReadingStretch(since: time)
    if isAfterJump(at: time), (lead > 0) == (jumpFrames > 0),
      abs(lead) > max(3 + 4 * noise, 4 * uncertainty)
    {
      return .rate(reading, lead: lead)
    }
    let limit = max(nominalFramesPerSecond * Self.minimumSeconds, 8 * noise)
    if abs(change) > limit { (suddenFrames, suddenNanoseconds) = (change, time) }
    let isSudden = abs(change) > abs(lead) / 2
    // All of a few readings may be late by chance. None is early.
    let maximumLead = isSudden ? 8 * uncertainty : 2 * lateness
    guard lead > max(limit, maximumLead) || lead < -2 * max(limit, 8 * uncertainty) else {
      learnLateness(from: lead, uncertainty: uncertainty, at: time)
      return nil
    }
    return isSudden ? .position(reading, lead: lead) : .rate(reading, lead: lead)
  }

  /// Returns whether the clock has just made a jump so small that it may be another rate.
  @_noLocks
  private func isAfterJump(at time: UInt64) -> Bool {
    jumpFrames != 0 && time &- begunNanoseconds < Self.jumpMemory
      && abs(jumpFrames) < Self.maximumRateSeconds * nominalFramesPerSecond
  }
}
