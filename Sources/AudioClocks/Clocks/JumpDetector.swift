// Audio thread.

/// A sudden change of a clock: the earliest reading that tells of it, and by how many frames that
/// is ahead of the estimate.
enum ClockChange: BitwiseCopyable, Sendable {
  /// The device stood still for a moment, or was moved on: the clock is at another place.
  case position(ClockReading, lead: Double)
  /// It runs at another rate.
  case rate(ClockReading, lead: Double)
}

/// Detects sudden changes of a clock by the earliest reading of each tenth of a second.
///
/// A clock that is off by more than chance allows is at another place if it was not off before, as
/// a device of a sound server that missed a cycle is, and runs at another rate if it is off by more
/// and more. A change that could be either counts as another place, and as another rate where the
/// clock is soon off in the same direction again.
struct JumpDetector: BitwiseCopyable, Sendable {
  /// The length of a stretch whose earliest reading counts.
  static var stretchNanoseconds: UInt64 { @_noLocks get { 100_000_000 } }
  /// Nanoseconds after a jump in which it may turn out to be another rate.
  private static let jumpMemory: UInt64 = 500_000_000
  /// Nanoseconds after a sudden change in which it explains what is off.
  private static let suddenMemory: UInt64 = 4_000_000_000
  /// Nanoseconds after which an estimate has settled, and tells how late readings are.
  private static let settledNanoseconds: UInt64 = 4_000_000_000
  /// The most stretches whose lateness counts.
  private static let mostUsual = 1000.0
  /// A clock that is off by less, in seconds, did not jump.
  private static let leastSeconds = 0.00025
  /// The most seconds that another rate makes up between a jump and the stretch before: those of
  /// 10,000 ppm.
  private static let mostRateSeconds = 0.003

  private let nominalFramesPerSecond: Double
  private var stretch = ReadingStretch()
  /// How far off the earliest readings of the last two stretches were.
  private var leads = (older: 0.0, newer: 0.0)
  /// When it last forgot all, and by how many frames the clock jumped then.
  private var begunNanoseconds: UInt64 = 0
  private var jumpFrames = 0.0
  /// The mean lateness, in frames, of a stretch's earliest reading behind an estimate that has
  /// settled, and the number of stretches in that mean.
  private var usualLateness = 0.0
  private var usualCount = 0.0
  /// The same as it was when all was forgotten.
  private var knownLateness = 0.0
  /// The last change of the lead that is more than chance, and when it came.
  private var suddenFrames = 0.0
  private var suddenNanoseconds: UInt64 = 0

  /// A detector for a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
  }

  /// Forgets all; the clock has just jumped by `frames`, where these are not 0.
  @_noLocks
  mutating func begin(at time: UInt64, jump frames: Double) {
    stretch = ReadingStretch(since: time)
    leads = (0, 0)
    jumpFrames = frames
    suddenFrames = 0
    begunNanoseconds = time
    knownLateness = max(0, usualLateness)
  }

  /// Frames by which the earliest reading of `nanoseconds` is usually late: the earliest of n
  /// readings that are equally likely to be late by 0 to L is late by L / (n + 1), so in twice the
  /// time by half. 0 for the first estimate, which continues no other.
  @_noLocks
  func lateness(in nanoseconds: UInt64) -> Double {
    knownLateness * Double(Self.stretchNanoseconds)
      / Double(max(Self.stretchNanoseconds, nanoseconds))
  }

  /// Counts how late the earliest reading of a stretch was, where that can be chance: of readings
  /// that are late by `uncertainty` as a mean one in 400 is late by six times that. What is further
  /// off is the estimate, after a small step of the rate: that would be taken in on one side only,
  /// as a clock that becomes faster is noticed sooner.
  @_noLocks
  private mutating func learnLateness(from lead: Double, uncertainty: Double, at time: UInt64) {
    guard time &- begunNanoseconds > Self.settledNanoseconds,
      abs(lead + usualLateness) < 6 * uncertainty
    else { return }
    usualCount = min(Self.mostUsual, usualCount + 1)
    usualLateness -= (lead + usualLateness) / usualCount
  }

  /// Takes in a reading that is ahead of the estimate by `lead` frames.
  @_noLocks
  mutating func take(_ reading: ClockReading, lead: Double) {
    stretch.take(reading, lead: lead)
  }

  /// The estimate goes through the earliest reading from now on.
  @_noLocks
  mutating func moveEstimateToEarliest() { stretch.moveEstimateToEarliest() }

  /// The least time over which the estimate is to be corrected: soon after a jump it must not take
  /// another rate for noise.
  @_noLocks
  func leastStretch(at time: UInt64) -> UInt64 {
    isAfterJump(at: time) ? Self.jumpMemory : Self.stretchNanoseconds
  }

  /// Whether a clock that is ahead by `lead` frames came to that suddenly, in the last seconds.
  @_noLocks
  func isSudden(_ lead: Double, at time: UInt64) -> Bool {
    time &- suddenNanoseconds < Self.suddenMemory && abs(suddenFrames - lead) < abs(lead) / 2
  }

  /// Ends the stretch where it is a tenth of a second long and has four readings, and answers what
  /// changed. The earliest readings are usually wrong by `noise` frames, and readings late by
  /// `lateness` as a mean.
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
    let limit = max(nominalFramesPerSecond * Self.leastSeconds, 8 * noise)
    if abs(change) > limit { (suddenFrames, suddenNanoseconds) = (change, time) }
    let isSudden = abs(change) > abs(lead) / 2
    // All of a few readings may be late by chance; none is early.
    let mostLead = isSudden ? 8 * uncertainty : 2 * lateness
    guard lead > max(limit, mostLead) || lead < -2 * max(limit, 8 * uncertainty) else {
      learnLateness(from: lead, uncertainty: uncertainty, at: time)
      return nil
    }
    return isSudden ? .position(reading, lead: lead) : .rate(reading, lead: lead)
  }

  /// Whether the clock has just jumped by so little that another rate may be what it was.
  @_noLocks
  private func isAfterJump(at time: UInt64) -> Bool {
    jumpFrames != 0 && time &- begunNanoseconds < Self.jumpMemory
      && abs(jumpFrames) < Self.mostRateSeconds * nominalFramesPerSecond
  }
}
