// Audio thread.

/// A device's clock, made smooth: what is believed of it from readings that come in batches, late,
/// twice, or not at all.
///
/// A reading can be late (it waits for a batch to be full, for an interrupt, for the processor) but
/// hardly early. So of all that come within a stretch of time only the earliest one counts, which
/// is far nearer to the truth than their mean: the stretches grow from a tenth of a second to one
/// second as the clock becomes known. What they tell goes through a `DelayLockedLoop`. A clock that
/// suddenly runs at another rate is noticed within a fifth of a second, by readings that are early
/// or by too many that are late, and the loop opens again.
///
/// For one thread; nothing here allocates, locks or waits.
public struct FilteredClock: BitwiseCopyable, Sendable {
  /// How a clock's rate wanders within a second, in parts per million, and how the change of it
  /// does, a second: more than a crystal's does that warms up.
  private static let wanderPPM = 0.02
  private static let swayPPM = 0.001
  /// No reading is believed to be more exact than so many frames.
  private static let finest = 0.02
  /// With this much of it, more readings are worth while: half a frame for the earliest of ten.
  private static let noisy = 5.0
  /// How long before a run of late readings the clock began to fall behind, as a part of that.
  private static let lateShare = 0.7
  private static let shortStretch: UInt64 = 100_000_000
  private static let longStretch: UInt64 = 2_000_000_000
  /// So many readings are enough for the earliest of them to be nearly in time.
  private static let enoughReadings = 2000
  /// Readings further from what is believed, in seconds, are nonsense, unless they go on.
  private static let nonsense = 0.02
  private static let nonsenseLimit: UInt64 = 300_000_000
  private static let nonsensePatience = 16

  /// Frames a second that the device promised.
  public let nominalFramesPerSecond: Double
  /// Whether any reading came since the last start.
  public private(set) var isRunning = false
  /// When the clock was last begun anew or found at another rate: its age counts from here.
  public private(set) var begunNanoseconds: UInt64 = 0
  private var loop: DelayLockedLoop
  private var last = ClockReading(frames: 0, nanoseconds: 0)
  private var hasRate = false
  /// The earliest readings of the short stretch and of the long one, and by how much.
  private var shortBest = Earliest()
  private var longBest = Earliest()
  private var lateRuns = LateRuns()
  /// How late readings are at most, usually, in frames.
  private var lateness = 0.0
  /// How far the earliest of a stretch is usually off, in frames, times the readings of that
  /// stretch: of twice as many the earliest is half as late. Taken from what one differs from the
  /// next, so that a clock which is followed with a lag does not count as a noisy one.
  private var usual = 0.0
  private var lastLead = 0.0
  /// Stretches since the clock began: in the first, a wrong rate looks like lateness.
  private var stretchCount = 0
  private var shortLead = 0.0
  private var shortTime: UInt64 = 0
  private var nonsenseSince: UInt64 = 0
  private var nonsenseCount = 0

  private struct Earliest: BitwiseCopyable {
    var since: UInt64 = 0
    var count = 0
    var lead = 0.0
    var sum = 0.0
    var reading = ClockReading(frames: 0, nanoseconds: 0)

    @_noLocks
    init() {}

    /// By how many frames the others are later than the earliest, on average.
    var meanLateness: Double {
      @_noLocks get { lead - sum / Double(count) }
    }

    @_noLocks
    mutating func see(_ reading: ClockReading, lead: Double) {
      if count == 0 || lead > self.lead {
        self.lead = lead
        self.reading = reading
      }
      sum += lead
      count &+= 1
    }
  }

  /// The clock of a device of nominally `framesPerSecond`.
  @_noLocks
  public init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
    loop = DelayLockedLoop(
      framesPerSecond: framesPerSecond, wanderPPM: Self.wanderPPM, swayPPM: Self.swayPPM)
  }

  /// Frames a second at `nanoseconds`, as they are now believed.
  @_noLocks
  public func framesPerSecond(at nanoseconds: UInt64) -> Double {
    loop.framesPerSecond(at: nanoseconds)
  }

  /// Frames at `nanoseconds`, as they are now believed.
  @_noLocks
  public func frames(at nanoseconds: UInt64) -> Double {
    loop.frames(at: nanoseconds)
  }

  /// When `frames` frames will have passed, as it is now believed.
  @_noLocks
  public func nanoseconds(at frames: Double, from now: UInt64) -> UInt64 {
    let wait = (frames - loop.frames(at: now)) / loop.framesPerSecond(at: now)
    return wait > 0 ? now &+ UInt64(min(wait, 1000) * 1e9) : now
  }

  /// Seconds for which it has run undisturbed.
  @_noLocks
  public func age(at now: UInt64) -> Double {
    isRunning && now > begunNanoseconds ? Double(now &- begunNanoseconds) * 1e-9 : 0
  }

  /// The device stopped, and starts anew: where it is will be told by its next reading. Its rate is
  /// still what it was.
  @_noLocks
  public mutating func restart() {
    hasRate = hasRate || age(at: last.nanoseconds) > 2
    isRunning = false
  }

  /// Takes a reading in, or leaves it: what says nothing new, or goes back, or makes no sense.
  @_noLocks
  public mutating func take(_ reading: ClockReading) {
    guard isRunning else { return begin(reading) }
    let lead = Double(reading.frames) - loop.frames(at: reading.nanoseconds)
    guard abs(lead) < Self.nonsense * nominalFramesPerSecond else { return doubt(reading) }
    guard reading.frames > last.frames, reading.nanoseconds > last.nanoseconds else { return }
    nonsenseSince = 0
    nonsenseCount = 0
    last = reading
    shortBest.see(reading, lead: lead)
    longBest.see(reading, lead: lead)
    let age = reading.nanoseconds &- begunNanoseconds
    if age < Self.shortStretch && lead > 0 {
      // Nothing is known yet but that no reading is early.
      loop.begin(
        at: Double(reading.frames), reading.nanoseconds, doubt: doubtfulFrames,
        rateDoubt: doubtfulRate)
      shortBest.lead = 0
      longBest.lead = 0
    }
    if age > Self.shortStretch, let late = lateRuns.see(reading, lead: lead, lateness: lateness) {
      let since = Double(reading.nanoseconds &- late.since) * 1e-9
      return reopen(late.reading, off: late.lead, within: since * Self.lateShare, at: reading)
    }
    if reading.nanoseconds &- shortBest.since >= Self.shortStretch, shortBest.count > 1 {
      endShortStretch(at: reading)
    }
    let stretch = min(Self.longStretch, max(Self.shortStretch, age / 5))
    if longBest.count > 3,
      reading.nanoseconds &- longBest.since >= stretch || longBest.count >= Self.enoughReadings
    {
      endLongStretch(at: reading)
    }
  }

  /// A millisecond: how late a first reading may be.
  private var doubtfulFrames: Double {
    @_noLocks get { nominalFramesPerSecond * 0.001 }
  }

  private var doubtfulRate: Double {
    @_noLocks get { nominalFramesPerSecond * (hasRate ? 0.00002 : 0.003) }
  }

  /// Whether more readings would make it much better known.
  public var isNoisy: Bool {
    @_noLocks get { usual > Self.noisy }
  }

  /// How far the earliest of so many readings is usually off.
  @_noLocks
  private func noise(of count: Int) -> Double {
    max(Self.finest, usual / Double(count))
  }

  @_noLocks
  private mutating func begin(_ reading: ClockReading) {
    isRunning = true
    begunNanoseconds = reading.nanoseconds
    last = reading
    nonsenseSince = 0
    nonsenseCount = 0
    usual = doubtfulFrames
    lateness = doubtfulFrames
    lastLead = 0
    stretchCount = 0
    loop.begin(
      at: Double(reading.frames), reading.nanoseconds, doubt: doubtfulFrames,
      rateDoubt: doubtfulRate)
    beginStretches(at: reading.nanoseconds)
  }

  @_noLocks
  private mutating func beginStretches(at time: UInt64) {
    shortBest = Earliest()
    shortBest.since = time
    longBest = shortBest
    shortLead = 0
    shortTime = time
    lateRuns = LateRuns()
  }

  /// What is far off counts only if it goes on: then the clock itself has jumped.
  @_noLocks
  private mutating func doubt(_ reading: ClockReading) {
    nonsenseCount &+= 1
    if nonsenseSince == 0 || reading.nanoseconds < nonsenseSince {
      nonsenseSince = reading.nanoseconds
    } else if reading.nanoseconds &- nonsenseSince > Self.nonsenseLimit,
      nonsenseCount > Self.nonsensePatience
    {
      begin(reading)
    }
  }

  /// Readings that are hardly ever early being far too early means another rate.
  @_noLocks
  private mutating func endShortStretch(at last: ClockReading) {
    let best = shortBest
    let (earlier, since) = (shortLead, shortTime)
    shortBest = Earliest()
    shortBest.since = last.nanoseconds
    shortLead = best.lead
    shortTime = best.reading.nanoseconds
    guard last.nanoseconds &- begunNanoseconds > Self.longStretch / 4 else { return }
    let limit = max(nominalFramesPerSecond * 0.00025, 8 * noise(of: best.count))
    guard best.lead > limit else { return }
    // As it went on between the last two tenths of a second, so it began.
    let passed = Double(shortTime &- since) * 1e-9
    let whole = passed * best.lead / max(best.lead - earlier, best.lead / 10)
    reopen(best.reading, off: best.lead, within: max(0.03, whole), at: last)
  }

  @_noLocks
  private mutating func endLongStretch(at last: ClockReading) {
    let best = longBest
    let lead = Double(best.reading.frames) - loop.frames(at: best.reading.nanoseconds)
    longBest = Earliest()
    longBest.since = last.nanoseconds
    let noise = noise(of: best.count)
    if last.nanoseconds &- begunNanoseconds > 2 * Self.longStretch, abs(lead) > 0.3 + 8 * noise {
      let agreed = Double(last.nanoseconds &- loop.nanoseconds) * 1e-9
      return reopen(best.reading, off: lead, within: agreed / 2, at: last)
    }
    let count = Double(best.count)
    let spread = max(2 * best.meanLateness, Self.finest * count)
    stretchCount &+= 1
    if stretchCount > 4 {
      lateness += (spread - lateness) / 8
      // A rate that is still being found is no noise.
      usual += (min(abs(lead - lastLead) * count, 3 * usual) - usual) / 8
    } else {
      lateness = spread
      usual = spread
    }
    lastLead = lead
    loop.take(best.reading, lateness: usual / count, noise: self.noise(of: best.count))
  }

  /// The clock runs at another rate, since so many seconds: at `reading`, which was `lead` frames
  /// early by then.
  @_noLocks
  private mutating func reopen(
    _ reading: ClockReading, off lead: Double, within seconds: Double, at last: ClockReading
  ) {
    begunNanoseconds = last.nanoseconds
    lastLead = 0
    // What comes late may be late by chance as well.
    let noise = max(noise(of: 50), -lead / 2)
    loop.bend(at: reading, by: lead, within: seconds, noise: noise)
    beginStretches(at: last.nanoseconds)
  }
}
