// Audio thread.

/// An estimate of a device's clock from readings that come in batches, late, twice, or not at all.
/// It uses a minimum filter, then the hull of the readings and, from the ninth second on, Kalman
/// filters.
///
/// A reading can be late (it waits for a full batch, for an interrupt, or for the processor) but is
/// hardly ever early. So only the earliest reading within a stretch of time counts, whose error is
/// far smaller than that of the mean. The stretches grow from 100 ms to 2 s with the age of the
/// estimate. The earliest readings go through `ClockFilters`, the Kalman filters. These model
/// errors by mean and variance only and need 15 s to reach 1 ppm of the rate. The line along the
/// convex hull of the readings (`ClockLine`) uses the fact that no reading is early and needs 5 s.
/// It is used for the first 8 s of frequent readings, and always for readings so rare and so late
/// that the filters would need a minute.
///
/// A large sudden change of the rate is detected within a third of a second, and the estimate
/// restarts. A step of the rate by 3 ppm is found within three seconds, and one by 100 ppm within
/// one, by the likelihood of a broken line through the readings of the last seconds (`RateTrend`).
/// The newer part of that line then becomes the line of the clock. A rate that keeps changing shows
/// in the errors of the filters. A device that stalled for a moment keeps its rate.
///
/// For one thread. No method allocates, locks or waits.
///
/// ```swift
/// var clock = FilteredClock(framesPerSecond: 48000)
/// for index in 0..<50 {
///   clock.take(ClockReading(frames: index * 480, nanoseconds: UInt64(index) * 10_000_000))
/// }
/// precondition(abs(clock.framesPerSecond(at: 490_000_000) - 48000) < 100)
/// ```
public struct FilteredClock: BitwiseCopyable, Sendable {
  /// The least noise of a reading, in frames.
  private static let finest = 0.02
  private static let longStretch: UInt64 = 2_000_000_000
  /// The longest stretch of readings for the line of a clock with frequent readings.
  private static let lineStretch: UInt64 = 260_000_000
  /// The number of readings after which the earliest of them is hardly late.
  private static let enoughReadings = 800
  /// Readings further from the estimate, in seconds, are outliers, unless they persist.
  private static let outlierSeconds = 0.02
  private static let outlierNanoseconds: UInt64 = 300_000_000
  private static let outlierReadings = 16

  /// The nominal rate of the device, in frames per second.
  public let nominalFramesPerSecond: Double
  /// The present estimate.
  public private(set) var estimate: ClockEstimate
  private var filters: ClockFilters {
    didSet { estimate.filter = filters.current }
  }
  /// The time since which the position is valid: a restart, a change of the rate, or a jump.
  private var placedNanoseconds: UInt64 = 0
  private var last = ClockReading(frames: 0, nanoseconds: 0)
  /// The readings since the last long stretch ended.
  private var longBest = ReadingStretch()
  /// The readings since the line last received readings.
  private var lineBest = ReadingStretch()
  /// Detects sudden changes by short stretches.
  private var jumps: JumpDetector
  /// The noise of the earliest readings, in frames: the difference between successive errors, so
  /// that a clock that is followed with a lag does not count as noisy.
  @usableFromInline
  private(set) var noiseEstimate = 1.0
  private var lastLead = 0.0
  /// The difference between the errors of the last two earliest readings.
  private var lastChange = 0.0
  /// The usual change of such differences: an even change is not noise.
  private var evenNoise = 1.0
  @usableFromInline
  private(set) var pattern: ReadingPattern
  private var line: ClockLine
  /// Whether the earliest reading of the last stretch was too far off to be chance.
  private var wasOff = false
  private var outlierSince: UInt64 = 0
  private var outlierCount = 0

  /// Creates the clock of a device of nominally `framesPerSecond`.
  @_noLocks
  public init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
    filters = ClockFilters(framesPerSecond: framesPerSecond)
    estimate = ClockEstimate(filter: filters.current)
    pattern = ReadingPattern(framesPerSecond: framesPerSecond)
    line = ClockLine(framesPerSecond: framesPerSecond)
    jumps = JumpDetector(framesPerSecond: framesPerSecond)
  }

  /// Whether a reading was received since the last start.
  public var isRunning: Bool {
    @_noLocks @inlinable @inline(__always) get { estimate.isRunning }
  }

  // Inlined, because each of these calls would otherwise first copy the state of the clock, 3.6 KB.

  /// Returns the estimated rate at `nanoseconds`, in frames per second.
  @_noLocks @inlinable @inline(__always)
  public func framesPerSecond(at nanoseconds: UInt64) -> Double {
    estimate.framesPerSecond(at: nanoseconds)
  }

  /// Returns the estimated position at `nanoseconds`, in frames.
  @_noLocks @inlinable @inline(__always)
  public func frames(at nanoseconds: UInt64) -> Double { estimate.frames(at: nanoseconds) }

  /// Returns the time in nanoseconds at which the clock reaches `frames`, as estimated at `now`.
  @_noLocks @inlinable @inline(__always)
  public func nanoseconds(at frames: Double, from now: UInt64) -> UInt64 {
    estimate.nanoseconds(at: frames, from: now)
  }

  /// Returns the seconds since the estimate began.
  @_noLocks @inlinable @inline(__always)
  public func age(at now: UInt64) -> Double { estimate.age(at: now) }

  /// Uses the estimate of another filter, and needs no readings.
  @_noLocks
  public mutating func follow(_ other: ClockEstimate) { estimate = other }

  /// Records a restart of the device. It keeps its rate, and its next reading sets the position.
  @_noLocks
  public mutating func restart() {
    line.limitRateUncertainty(after: age(at: last.nanoseconds), pattern)
    estimate.isRunning = false
  }

  /// Returns the largest lateness of the estimate in frames, exceeded in a few percent of all
  /// cases. It is infinite before the first readings. It is ten times the mean lateness of the
  /// earliest reading, 2 x lateness x interval / age (simulated: 512 to 2,048 frames at once).
  @_noLocks
  public func lateFrames(at now: UInt64) -> Double {
    let age = age(at: now)
    return pattern.interval > 0 && age > 0
      ? 20 * pattern.lateness * pattern.interval / age : .infinity
  }

  /// Adds a reading, unless it repeats the last one, goes back, or is an outlier.
  @_noLocks
  public mutating func take(_ reading: ClockReading) {
    guard isRunning else { return begin(reading) }
    guard reading.frames > last.frames, reading.nanoseconds > last.nanoseconds else { return }
    let lead = Double(reading.frames) - estimate.filter.frames(at: reading.nanoseconds)
    guard abs(lead) < Self.outlierSeconds * nominalFramesPerSecond else {
      return handleOutlier(reading)
    }
    (outlierSince, outlierCount) = (0, 0)
    last = reading
    jumps.take(reading, lead: lead)
    longBest.take(reading, lead: lead)
    lineBest.take(reading, lead: lead)
    let age = reading.nanoseconds &- placedNanoseconds
    if age < JumpDetector.stretchNanoseconds && lead > 0 {
      // The only certainty so far is that no reading is early.
      beginLoop(at: reading)
      jumps.moveEstimateToEarliest()
      longBest.moveEstimateToEarliest()
      lineBest.moveEstimateToEarliest()
      estimate.raisedFrames = 0
    } else if lead > estimate.raisedFrames + 1, pattern.isCoarse, pattern.isInfrequent {
      estimate.raisedFrames = lead
    }
    if let change = jumps.change(
      at: reading.nanoseconds, noise: noiseEstimate, lateness: pattern.lateness),
      reading.nanoseconds &- estimate.begunNanoseconds > Self.longStretch
    {
      follow(change, at: reading.nanoseconds)
    }
    // The line excludes the readings of the stretch that has not ended.
    let minimum = jumps.minimumStretch(at: reading.nanoseconds)
    let isStartUp = isStartUp(at: reading.nanoseconds) && !pattern.isCoarse
    let stretches: UInt64 = pattern.isCoarse ? 12 : isStartUp ? 16 : 8
    let maximum = isStartUp ? Self.lineStretch : Self.longStretch
    let stretch = min(maximum, max(minimum, age / stretches))
    if longBest.count > 3,
      reading.nanoseconds &- longBest.since >= stretch || longBest.count >= Self.enoughReadings
    {
      endLongStretch(at: reading.nanoseconds)
    }
    if lineBest.count > 3, reading.nanoseconds &- lineBest.since >= Self.lineStretch {
      endLineStretch(at: reading.nanoseconds)
    }
  }

  /// Restarts the filter at `reading`, which may be late by a millisecond.
  @_noLocks
  private mutating func beginLoop(at reading: ClockReading) {
    let rate = estimate.filter.framesPerSecond(at: estimate.filter.nanoseconds)
    filters.begin(
      at: Double(reading.frames), reading.nanoseconds, framesPerSecond: rate,
      uncertainty: nominalFramesPerSecond * 0.001,
      rateUncertainty: nominalFramesPerSecond * line.rateUncertainty)
  }

  /// The usual number of frames by which a reading is later than the earliest of its stretch.
  package var lateness: Double {
    @_noLocks @inlinable @inline(__always) get { pattern.lateness }
  }

  /// Whether more readings would make the estimate much more accurate.
  public var isNoisy: Bool {
    @_noLocks @inlinable @inline(__always) get { noiseEstimate > 0.1 || pattern.lateness > 2 }
  }

  @_noLocks
  private mutating func begin(_ reading: ClockReading) {
    estimate.isRunning = true
    line.keepRate(estimate.filter.framesPerSecond(at: reading.nanoseconds))
    line.begin(at: reading.nanoseconds)
    (estimate.begunNanoseconds, placedNanoseconds) = (reading.nanoseconds, reading.nanoseconds)
    last = reading
    (outlierSince, outlierCount) = (0, 0)
    (noiseEstimate, evenNoise) = (1, 1)
    pattern.clear()
    beginLoop(at: reading)
    forgetReadings(at: reading.nanoseconds)
  }

  /// Discards all readings before `time`. `frames` is the size of the jump that the clock has just
  /// made, or 0.
  @_noLocks
  private mutating func forgetReadings(at time: UInt64, jump frames: Double = 0) {
    forgetErrors(at: time)
    line.clear()
    jumps.begin(at: time, jump: frames)
    lineBest = ReadingStretch(since: time)
  }

  /// Discards the errors of the filters before `time`.
  @_noLocks
  private mutating func forgetErrors(at time: UInt64) {
    (lastLead, lastChange) = (0, 0)
    filters.forgetReadings()
    estimate.raisedFrames = 0
    wasOff = false
    longBest = ReadingStretch(since: time)
  }

  /// Counts outliers. Only if they persist, the clock itself has jumped.
  @_noLocks
  private mutating func handleOutlier(_ reading: ClockReading) {
    outlierCount &+= 1
    if outlierSince == 0 || reading.nanoseconds < outlierSince {
      outlierSince = reading.nanoseconds
    } else if reading.nanoseconds &- outlierSince > Self.outlierNanoseconds,
      outlierCount > Self.outlierReadings
    {
      line.limitRateUncertainty(after: age(at: last.nanoseconds), pattern)
      begin(reading)
    }
  }

  @_noLocks
  private mutating func follow(_ change: ClockChange, at time: UInt64) {
    switch change {
    case .position(let reading, let lead): jump(to: reading, by: lead, at: time)
    case .rate(let reading, let lead): reopen(reading, off: lead, at: time)
    }
  }

  /// Handles a device that stalled for a moment or was moved forward.
  @_noLocks
  private mutating func jump(to reading: ClockReading, by lead: Double, at time: UInt64) {
    line.limitRateUncertainty(after: age(at: time), pattern)
    line.keepRate(estimate.filter.framesPerSecond(at: time))
    placedNanoseconds = time
    filters.move(to: reading, noise: noiseEstimate)
    forgetReadings(at: time, jump: lead)
  }

  /// Returns whether the line, soon after its start, is more accurate than the filters.
  @_noLocks
  private func isStartUp(at time: UInt64) -> Bool { pattern.isFrequent && line.isStartUp(at: time) }

  @_noLocks
  private mutating func endLongStretch(at time: UInt64) {
    let reading = longBest.earliest
    // Even the earliest reading is late, more so in a short stretch than in a long one.
    let position = Double(reading.frames) + jumps.lateness(in: time &- longBest.since)
    let lead = position - estimate.filter.frames(at: reading.nanoseconds)
    pattern.take(longBest, endingAt: time)
    let isCoarse = pattern.isCoarse
    let uncertainty = ReadingStretch.uncertainty(lateness: pattern.lateness, count: longBest.count)
    estimate.raisedFrames = 0
    if isCoarse || !pattern.isFrequent || isStartUp(at: time) {
      line.take(longBest)
      lineBest = ReadingStretch(since: time)
    }
    longBest = ReadingStretch(since: time)
    let limit = 1 + 6 * max(noiseEstimate, uncertainty)
    let placed = time &- placedNanoseconds
    let isOff =
      placed > 2 * Self.longStretch && abs(lead) > limit
      && (isCoarse || filters.isLost(position, at: reading.nanoseconds, limit: limit))
    // An event of chance 1 / 1,000 per stretch has a chance of one in a million twice in a row.
    if isOff && (wasOff || !isCoarse) {
      if jumps.isSudden(lead, at: time) { return jump(to: reading, by: lead, at: time) }
      return reopen(reading, off: lead, at: time)
    }
    wasOff = isOff
    let change = lead - lastLead
    // The hull follows another rate late, so an even change is not noise. For independent errors, a
    // change of the change deviates √3 times as far as a change.
    let even = abs(change - lastChange) * 0.577
    evenNoise = max(Self.finest, evenNoise + (even - evenNoise) / 8)
    let noise = isCoarse ? even : abs(change)
    noiseEstimate = max(Self.finest, noiseEstimate + (noise - noiseEstimate) / 8)
    (lastLead, lastChange) = (lead, change)
    guard isCoarse || isStartUp(at: time) else {
      let isSettled = placed > 4 * Self.longStretch
      return followFilters(position, at: reading.nanoseconds, until: time, isSettled: isSettled)
    }
    guard !isOff, !followLine(at: time) else { return }
    filters.take(position, at: reading.nanoseconds, noise: max(noiseEstimate, uncertainty))
  }

  /// Uses the Kalman filters. If their errors keep growing, the rate has changed, if the readings
  /// of the last seconds confirm it, or keeps changing.
  @_noLocks
  private mutating func followFilters(
    _ position: Double, at time: UInt64, until now: UInt64, isSettled: Bool
  ) {
    let (noise, even) = (noiseEstimate, evenNoise)
    guard
      let grown = filters.follow(
        position, at: time, noise: noise, evenNoise: even, isSettled: isSettled)
    else { return }
    switch pattern.isFrequent ? line.rateTrend(isSuspected: true) : nil {
    case .step(let newest): changeRate(newest: newest, at: now)
    case .changing: filters.expectRateRamp(grown, position, at: time, noise: noise, evenNoise: even)
    case .constant: filters.takeAll(position, at: time, noise: noise, evenNoise: even)
    case nil: filters.learn(grown, position, at: time, noise: noise, evenNoise: even)
    }
  }

  /// Ends a stretch of readings for the line, and searches for a small change of the rate.
  @_noLocks
  private mutating func endLineStretch(at time: UInt64) {
    let stretch = lineBest
    lineBest = ReadingStretch(since: time)
    guard pattern.isFrequent, pattern.interval > 0, !pattern.isCoarse, !isStartUp(at: time) else {
      return
    }
    line.take(stretch)
    guard filters.isStill,
      case .step(let newest) = line.rateTrend(isSuspected: false)
    else { return }
    changeRate(newest: newest, at: time)
  }

  /// Handles a clock that has run at another rate during the last `newest` stretches.
  @_noLocks
  private mutating func changeRate(newest: Int, at time: UInt64) {
    let begun = line.keep(newest: newest)
    (placedNanoseconds, estimate.changedNanoseconds) = (begun, begun)
    line.forgetRate(before: begun)
    filters.noteChange()
    _ = followLine(at: time)
    forgetErrors(at: time)
  }

  /// Uses the line through the earliest readings. Returns false if they do not determine the rate
  /// yet. If the rate changes twice while it is being estimated, the fastest filter is used.
  @_noLocks
  private mutating func followLine(at time: UInt64) -> Bool {
    var isWandering = false
    if let begun = line.forgetOld(pattern) {
      forgetRate(before: begun)
      isWandering = filters.noteUnstableRate(at: time)
    }
    guard let found = line.found(at: time, pattern) else { return false }
    filters.begin(
      at: found.frames, time, framesPerSecond: found.framesPerSecond,
      uncertainty: found.uncertainty,
      rateUncertainty: found.rateUncertainty)
    if isWandering && !pattern.isCoarse {
      line.endStartUp()
      filters.useFastest()
    }
    return true
  }

  /// Discards the knowledge of the rate before `time`. Only readings from `time` on count.
  @_noLocks
  private mutating func forgetRate(before time: UInt64) {
    (estimate.begunNanoseconds, placedNanoseconds) = (time, time)
    line.forgetRate(before: time)
  }

  @_noLocks
  private mutating func reopen(_ reading: ClockReading, off lead: Double, at time: UInt64) {
    // The whole error grew since the filter last agreed, or since the stretch of 100 ms began.
    let since =
      Double(max(JumpDetector.stretchNanoseconds, time &- estimate.filter.nanoseconds)) * 1e-9
    forgetRate(before: time)
    filters.forget(lead, rate: 2 * lead / since)
    (noiseEstimate, evenNoise) = (max(noiseEstimate, 1), max(evenNoise, 1))
    pattern.clear()
    filters.take(Double(reading.frames), at: reading.nanoseconds, noise: noiseEstimate)
    forgetReadings(at: time)
  }
}
