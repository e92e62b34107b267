// Audio thread.

/// An estimate of a device's clock from readings that come in batches, late, twice, or not at all: a
/// minimum filter, then the convex hull of the readings and, from the ninth second on, a Kalman filter.
///
/// A reading can be late (it waits for a batch to be full, for an interrupt, for the processor) but
/// hardly early. So of all readings within a stretch of time only the earliest one counts, whose
/// error is far smaller than that of their mean: the stretches grow from a tenth of a second to two
/// seconds with the age of the estimate. The earliest readings go through `ClockFilters`, the
/// Kalman filters. These know of errors with a mean and a variance only, and take fifteen seconds to
/// come to a millionth of the rate. An `ArrivalHull`, which knows that no reading is early, takes five:
/// its line counts for the first eight seconds of readings that come often, and always of those so few and
/// so late that the filter would take a minute, over the time in which lateness and the clock's wander
/// balance. A clock that suddenly runs at quite another rate is detected within a third of a second, and
/// the estimate begins anew; a small step, or a rate that sways, shows in the errors of the filters, within some
/// seconds. A device that stood still for a moment, as one does of a sound server that misses a cycle, keeps its rate.
///
/// For one thread; nothing here allocates, locks or waits.
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
  /// Seconds from the beginning of an estimate in which the hull knows more than the Kalman filter, and from one
  /// reading to the next where it does.
  private static let youngSeconds = 8.0
  private static let oftenSeconds = 0.003
  /// What the rate's own error adds to the mean lateness of the hull's line at its end, as a part of what the
  /// earliest of all readings is late by (simulated: 1,700 gaps of an input, a step of the rate every 40 s).
  private static let rateLateness = 0.6
  /// Readings after which the earliest of them is nearly in time.
  private static let enoughReadings = 800
  /// Readings further from the estimate, in seconds, are outliers, unless they persist.
  private static let outlierSeconds = 0.02
  private static let outlierNanoseconds: UInt64 = 300_000_000
  private static let outlierReadings = 16
  /// By which part of itself the rate of a clock that nothing is known of may be wrong, and of one that
  /// was known well.
  private static let firstRateDoubt = 0.003
  private static let leastRateDoubt = 0.00002
  /// The same of a clock whose readings tell it so slowly that it matters what crystals are like.
  private static let crystalRateDoubt = 0.0005
  /// Seconds from one reading to the next of such a clock.
  private static let seldomSeconds = 0.006

  /// Seconds of lateness times seconds from one reading to the next, from which on the hull knows more
  /// than the Kalman filter.
  private static let coarseness = 1.8e-6
  /// The cube of the hull's seconds for each of these: its error of the rate falls with their square, and
  /// a wander of the rate grows with them.
  private static let hullCube = 1e9
  private static let leastHullCube = 64.0
  /// Readings, and seconds, that a hull needs for a line.
  private static let leastHullReadings = 12.0
  private static let firstHullSeconds = 0.5

  /// Frames a second that the device promised.
  public let nominalFramesPerSecond: Double
  /// What it comes to.
  public private(set) var estimate: ClockEstimate
  private var filters: ClockFilters {
    didSet { estimate.loop = filters.current }
  }
  /// When its place was last found anew: at that time, or after a jump.
  private var placedNanoseconds: UInt64 = 0
  private var last = ClockReading(frames: 0, nanoseconds: 0)
  private var rateDoubt = firstRateDoubt
  /// The readings since the last long stretch ended.
  private var longBest = ReadingStretch()
  /// Tells sudden changes by short stretches.
  private var jumps: JumpDetector
  /// The noise of the earliest readings, in frames: by how much one's error differs from the next
  /// one's, so that a clock which is followed with a lag does not count as a noisy one.
  @usableFromInline
  private(set) var noiseEstimate = 1.0
  private var lastLead = 0.0
  /// How much further off the last stretch's earliest reading was than the one before it.
  private var lastChange = 0.0
  /// The noise by how much such a difference differs from the one before, so that an even change is none.
  private var evenNoise = 1.0
  /// By how many frames a reading is usually later than the earliest of its stretch.
  @usableFromInline
  package private(set) var lateness = 0.0
  /// Seconds from one reading to the next.
  private var interval = 0.0
  private var hull: ArrivalHull
  /// The rate that the clock began with, and by how much that may be wrong, in frames a second.
  private var firstRate: Double
  private var firstRateDoubt = 0.0
  /// Whether the earliest reading of the last stretch was too far off to be chance.
  private var wasOff = false
  private var outlierSince: UInt64 = 0
  private var outlierCount = 0

  /// The clock of a device of nominally `framesPerSecond`.
  @_noLocks
  public init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
    filters = ClockFilters(framesPerSecond: framesPerSecond)
    estimate = ClockEstimate(loop: filters.current)
    hull = ArrivalHull(framesPerSecond: framesPerSecond)
    jumps = JumpDetector(framesPerSecond: framesPerSecond)
    firstRate = framesPerSecond
  }

  /// Whether any reading came since the last start.
  public var isRunning: Bool {
    @_noLocks @inlinable @inline(__always) get { estimate.isRunning }
  }

  // Inlined, or each of these calls would first copy all that a clock remembers, 3.6 KB.

  /// As `ClockEstimate` has it.
  @_noLocks @inlinable @inline(__always)
  public func framesPerSecond(at nanoseconds: UInt64) -> Double {
    estimate.framesPerSecond(at: nanoseconds)
  }

  /// As `ClockEstimate` has it.
  @_noLocks @inlinable @inline(__always)
  public func frames(at nanoseconds: UInt64) -> Double { estimate.frames(at: nanoseconds) }

  /// As `ClockEstimate` has it.
  @_noLocks @inlinable @inline(__always)
  public func nanoseconds(at frames: Double, from now: UInt64) -> UInt64 {
    estimate.nanoseconds(at: frames, from: now)
  }

  /// As `ClockEstimate` has it.
  @_noLocks @inlinable @inline(__always)
  public func age(at now: UInt64) -> Double { estimate.age(at: now) }

  /// Goes by the estimate of another filter, and needs no readings.
  @_noLocks
  public mutating func follow(_ other: ClockEstimate) { estimate = other }

  /// The device stopped, and starts anew: where it is will be told by its next reading. Its rate is
  /// still what it was.
  @_noLocks
  public mutating func restart() {
    knowRate(after: age(at: last.nanoseconds))
    estimate.isRunning = false
  }

  /// Its rate is known as well as by a line through the earliest readings of `seconds`, see `followHull`.
  @_noLocks
  private mutating func knowRate(after seconds: Double) {
    guard seconds > 2 else { return }
    let doubt = 16 * lateness * interval / (seconds * seconds * nominalFramesPerSecond)
    rateDoubt = min(rateDoubt, max(Self.leastRateDoubt, doubt))
  }

  /// Frames by which the estimate may be late, in all but a few of a hundred cases: infinite where
  /// nothing is known of the readings yet. Ten times what the earliest of all readings is late by as a
  /// mean (simulated: 512 to 2,048 frames at once, late by 0 to 2 ms, half a second to eight).
  @_noLocks
  public func lateFrames(at now: UInt64) -> Double {
    let age = age(at: now)
    return interval > 0 && age > 0 ? 20 * lateness * interval / age : .infinity
  }

  /// Takes a reading in, unless it repeats the last one, goes back, or is an outlier.
  @_noLocks
  public mutating func take(_ reading: ClockReading) {
    guard isRunning else { return begin(reading) }
    guard reading.frames > last.frames, reading.nanoseconds > last.nanoseconds else { return }
    let lead = Double(reading.frames) - estimate.loop.frames(at: reading.nanoseconds)
    guard abs(lead) < Self.outlierSeconds * nominalFramesPerSecond else { return doubt(reading) }
    (outlierSince, outlierCount) = (0, 0)
    last = reading
    jumps.take(reading, lead: lead)
    longBest.take(reading, lead: lead)
    let age = reading.nanoseconds &- placedNanoseconds
    if age < JumpDetector.stretchNanoseconds && lead > 0 {
      // All that is certain so far: no reading is early.
      beginLoop(at: reading)
      jumps.moveEstimateToEarliest()
      longBest.moveEstimateToEarliest()
      estimate.raisedFrames = 0
    } else if lead > estimate.raisedFrames + 1, isCoarse, isSeldom {
      estimate.raisedFrames = lead
    }
    if let change = jumps.change(
      at: reading.nanoseconds, noise: noiseEstimate, lateness: lateness),
      reading.nanoseconds &- estimate.begunNanoseconds > Self.longStretch
    {
      follow(change, at: reading.nanoseconds)
    }
    // The hull does without the readings of the stretch that has not ended.
    let least = jumps.leastStretch(at: reading.nanoseconds)
    let stretches: UInt64 = isCoarse ? 12 : isYoung(at: reading.nanoseconds) ? 16 : 8
    let stretch = min(Self.longStretch, max(least, age / stretches))
    if longBest.count > 3,
      reading.nanoseconds &- longBest.since >= stretch || longBest.count >= Self.enoughReadings
    {
      endLongStretch(at: reading.nanoseconds)
    }
  }

  /// The loop goes through `reading`, which may be late by a millisecond.
  @_noLocks
  private mutating func beginLoop(at reading: ClockReading) {
    let rate = estimate.loop.framesPerSecond(at: estimate.loop.nanoseconds)
    filters.begin(
      at: Double(reading.frames), reading.nanoseconds, framesPerSecond: rate,
      doubt: nominalFramesPerSecond * 0.001, rateDoubt: nominalFramesPerSecond * rateDoubt)
  }

  /// Whether more readings would make it much better known.
  public var isNoisy: Bool {
    @_noLocks @inlinable @inline(__always) get { noiseEstimate > 0.1 || lateness > 2 }
  }

  @_noLocks
  private mutating func begin(_ reading: ClockReading) {
    estimate.isRunning = true
    keepRate(at: reading.nanoseconds)
    (estimate.begunNanoseconds, placedNanoseconds) = (reading.nanoseconds, reading.nanoseconds)
    last = reading
    (outlierSince, outlierCount) = (0, 0)
    (noiseEstimate, evenNoise, lateness, interval) = (1, 1, 0, 0)
    beginLoop(at: reading)
    forgetReadings(at: reading.nanoseconds)
  }

  /// The readings from `time` on are those of another line, whose rate is the present one.
  @_noLocks
  private mutating func keepRate(at time: UInt64) {
    firstRate = estimate.loop.framesPerSecond(at: time)
    firstRateDoubt = nominalFramesPerSecond * min(rateDoubt, Self.crystalRateDoubt)
  }

  /// Readings before `time` do not count any more; the clock has just jumped by `frames`, where these are not 0.
  @_noLocks
  private mutating func forgetReadings(at time: UInt64, jump frames: Double = 0) {
    (lastLead, lastChange) = (0, 0)
    filters.forgetReadings()
    estimate.raisedFrames = 0
    wasOff = false
    hull.clear()
    jumps.begin(at: time, jump: frames)
    longBest = ReadingStretch(since: time)
  }

  /// Outliers count only if they persist: then the clock itself has jumped.
  @_noLocks
  private mutating func doubt(_ reading: ClockReading) {
    outlierCount &+= 1
    if outlierSince == 0 || reading.nanoseconds < outlierSince {
      outlierSince = reading.nanoseconds
    } else if reading.nanoseconds &- outlierSince > Self.outlierNanoseconds,
      outlierCount > Self.outlierReadings
    {
      knowRate(after: age(at: last.nanoseconds))
      begin(reading)
    }
  }

  @_noLocks
  private mutating func follow(_ change: ClockChange, at time: UInt64) {
    switch change {
    case .place(let reading, let lead): jump(to: reading, by: lead, at: time)
    case .rate(let reading, let lead): reopen(reading, off: lead, at: time)
    }
  }

  /// The device stood still for a moment, or was moved on.
  @_noLocks
  private mutating func jump(to reading: ClockReading, by lead: Double, at time: UInt64) {
    knowRate(after: age(at: time))
    keepRate(at: time)
    placedNanoseconds = time
    filters.move(to: reading, noise: noiseEstimate)
    forgetReadings(at: time, jump: lead)
  }

  /// Whether readings come so late and so seldom that the hull knows more.
  private var isCoarse: Bool {
    @_noLocks get { latenessSeconds * interval > Self.coarseness }
  }

  @_noLocks
  private func isYoung(at time: UInt64) -> Bool {
    interval < Self.oftenSeconds && age(at: time) < Self.youngSeconds
  }

  /// Whether a tenth of a second has a few of them only.
  private var isSeldom: Bool {
    @_noLocks get { interval > Self.seldomSeconds }
  }

  /// The most seconds by which readings are late, where all up to that are equally likely.
  private var latenessSeconds: Double {
    @_noLocks get { 2 * lateness / nominalFramesPerSecond }
  }

  @_noLocks
  private mutating func endLongStretch(at time: UInt64) {
    let reading = longBest.earliest
    // Even the earliest one is late, in a short stretch more than in a long one.
    let place = Double(reading.frames) + jumps.lateness(in: time &- longBest.since)
    let lead = place - estimate.loop.frames(at: reading.nanoseconds)
    let late = longBest.lateness
    lateness = lateness > 0 ? lateness + (late - lateness) / 4 : late
    let apart = Double(time &- longBest.since) * 1e-9 / Double(longBest.count)
    interval = interval > 0 ? interval + (apart - interval) / 4 : apart
    let doubt = ReadingStretch.doubt(lateness: lateness, count: longBest.count)
    estimate.raisedFrames = 0
    hull.take(longBest)
    longBest = ReadingStretch(since: time)
    let limit = 1 + 6 * max(noiseEstimate, doubt)
    let placed = time &- placedNanoseconds
    let isOff =
      placed > 2 * Self.longStretch && abs(lead) > limit
      && (isCoarse || filters.isLost(place, at: reading.nanoseconds, limit: limit))
    // What happens by chance once in a thousand stretches happens twice in a row in a million.
    if isOff && (wasOff || !isCoarse) {
      if jumps.isSudden(lead, at: time) { return jump(to: reading, by: lead, at: time) }
      return reopen(reading, off: lead, at: time)
    }
    wasOff = isOff
    let change = lead - lastLead
    // The hull follows another rate late: an even change is no noise there. Of independent errors, a
    // change of the change deviates √3 times as far as a change.
    let even = abs(change - lastChange) * 0.577
    evenNoise = max(Self.finest, evenNoise + (even - evenNoise) / 8)
    let noise = isCoarse ? even : abs(change)
    noiseEstimate = max(Self.finest, noiseEstimate + (noise - noiseEstimate) / 8)
    (lastLead, lastChange) = (lead, change)
    guard isCoarse || isYoung(at: time) else {
      return filters.follow(
        place, at: reading.nanoseconds, noise: noiseEstimate, evenNoise: evenNoise,
        isSettled: placed > 4 * Self.longStretch)
    }
    guard !isOff, !followHull(at: time) else { return }
    filters.take(place, at: reading.nanoseconds, noise: max(noiseEstimate, doubt))
  }

  /// Goes by the hull: by the rate of its line and the one that the clock began with, each as far as it is
  /// known, and by the earliest of its readings. False where it tells nothing of the rate yet, and the
  /// first one is no longer right or will soon be known better.
  @_noLocks
  private mutating func followHull(at time: UInt64) -> Bool {
    hull.keep(cubicSeconds: max(Self.leastHullCube, Self.hullCube * latenessSeconds * interval))
    if hull.forgetAnotherRate() { forgetRate(before: hull.oldestNanoseconds) }
    let isKnown = isSeldom || rateDoubt < Self.crystalRateDoubt
    let knownRateDoubt = isKnown ? firstRateDoubt : .infinity
    let span = hull.span ?? 0
    let readings = span / interval
    let doubt = readings > 1 ? 2 * lateness / readings : 0
    guard span > Self.firstHullSeconds, readings > Self.leastHullReadings else {
      guard knownRateDoubt < .infinity else { return false }
      let place = hull.frames(at: time, framesPerSecond: firstRate) + (isCoarse ? 0 : doubt)
      filters.begin(
        at: place, time, framesPerSecond: firstRate, doubt: lateness, rateDoubt: knownRateDoubt)
      return true
    }
    let found = hull.rate
    let rateDoubt = 8 * found.errorPart * doubt / span
    let ratio = rateDoubt / knownRateDoubt
    let weight = 1 / (1 + ratio * ratio)
    let rate = firstRate + weight * (found.framesPerSecond - firstRate)
    let late = doubt * (isCoarse ? 1 : 1 + Self.rateLateness * weight)
    filters.begin(
      at: hull.frames(at: time, framesPerSecond: rate) + late, time, framesPerSecond: rate,
      doubt: 2 * doubt, rateDoubt: min(rateDoubt, knownRateDoubt))
    return true
  }

  /// Of the clock's rate is known what the readings from `time` on tell, and no more.
  @_noLocks
  private mutating func forgetRate(before time: UInt64) {
    (estimate.begunNanoseconds, placedNanoseconds) = (time, time)
    (firstRateDoubt, rateDoubt) = (.infinity, Self.firstRateDoubt)
  }

  @_noLocks
  private mutating func reopen(_ reading: ClockReading, off lead: Double, at time: UInt64) {
    // All of it in the time since the loop last agreed, or since the tenth of a second began.
    let since =
      Double(max(JumpDetector.stretchNanoseconds, time &- estimate.loop.nanoseconds)) * 1e-9
    forgetRate(before: time)
    filters.forget(lead, rate: 2 * lead / since)
    (noiseEstimate, evenNoise) = (max(noiseEstimate, 1), max(evenNoise, 1))
    (lateness, interval) = (0, 0)
    filters.take(Double(reading.frames), at: reading.nanoseconds, noise: noiseEstimate)
    forgetReadings(at: time)
  }
}
