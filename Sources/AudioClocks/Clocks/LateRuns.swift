// Audio thread.

/// Notices that a clock has fallen behind what is believed of it.
///
/// One late reading tells nothing, since any may be late by chance. But the more of them in a row
/// are late, the less likely is it chance: of readings that are evenly 0 to `lateness` late, the
/// share later than a level is 1 - level / lateness, and n in a row are that to the power of n. So
/// for each level there is a length of run that chance brings about once in many hours: being far
/// behind is noticed after few readings, being behind a little after more.
struct LateRuns: BitwiseCopyable, Sendable {
  /// Readings in a row that are all later than a level.
  struct Run: BitwiseCopyable, Sendable {
    /// The level: a part of the usual lateness, but no less than so many frames.
    private let level: Double
    private let lowest: Double
    /// So many are no chance.
    private let enough: Int
    private var count = 0
    /// When it began, and the earliest reading of it.
    private(set) var since: UInt64 = 0
    private(set) var reading = ClockReading(frames: 0, nanoseconds: 0)
    /// By how many frames that one is early: less than 0.
    private(set) var lead = 0.0

    @_noLocks
    init(level: Double, lowest: Double, enough: Int) {
      self.level = level
      self.lowest = lowest
      self.enough = enough
    }

    /// Whether, with this reading, there are enough of them.
    @_noLocks
    mutating func see(_ reading: ClockReading, lead: Double, lateness: Double) -> Bool {
      guard lead < -max(lowest, level * lateness) else {
        count = 0
        return false
      }
      if count == 0 { since = reading.nanoseconds }
      if count == 0 || lead > self.lead {
        self.lead = lead
        self.reading = reading
      }
      count &+= 1
      return count >= enough
    }
  }

  // The odds of each are 1 in 10^9: 20.7 / -log(1 - level) readings. Beyond the usual lateness
  // chance brings none, but a stumble of the machine may bring a few.
  private var little = Run(level: 0.125, lowest: 3, enough: 155)
  private var some = Run(level: 0.25, lowest: 6, enough: 72)
  private var half = Run(level: 0.5, lowest: 9, enough: 30)
  private var whole = Run(level: 1, lowest: 12, enough: 10)

  @_noLocks
  init() {}

  /// Sees a reading that is `lead` frames early, or, less than 0, late; usually that is `lateness`
  /// at most. Returns the run that is no chance any more, if there is one.
  @_noLocks
  mutating func see(_ reading: ClockReading, lead: Double, lateness: Double) -> Run? {
    let isLittle = little.see(reading, lead: lead, lateness: lateness)
    let isSome = some.see(reading, lead: lead, lateness: lateness)
    let isHalf = half.see(reading, lead: lead, lateness: lateness)
    let isWhole = whole.see(reading, lead: lead, lateness: lateness)
    if isWhole { return whole }
    if isHalf { return half }
    if isSome { return some }
    return isLittle ? little : nil
  }
}
