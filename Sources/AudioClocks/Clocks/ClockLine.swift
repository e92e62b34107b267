// Audio thread.

/// The straight line of a clock that runs at a constant rate. It combines the hull of the readings
/// with the initial rate of the clock, weighted by their uncertainties.
struct ClockLine: BitwiseCopyable, Sendable {
  /// A position on the line, its slope, and the uncertainties of both.
  struct LineEstimate: BitwiseCopyable {
    var frames: Double
    var framesPerSecond: Double
    var uncertainty: Double
    var rateUncertainty: Double
  }

  /// The lateness that the error of the rate adds at the end of the hull's line, as a fraction of
  /// the mean lateness of the earliest of all readings (simulated: 1,700 gaps of an input, a step
  /// of the rate every 40 s).
  private static let rateLateness = 0.6
  /// The relative uncertainty of the rate of an unknown clock, and the least one of a well-known
  /// clock.
  private static let initialRateUncertainty = 0.003
  private static let minimumRateUncertainty = 0.00002
  /// The same for a clock whose readings determine the rate so slowly that the usual tolerance of
  /// crystals matters.
  private static let crystalRateUncertainty = 0.0005
  /// The cube of the hull's duration in seconds, divided by the product of the lateness and the
  /// reading interval in seconds. The hull's error of the rate falls with the square of the
  /// duration, and the wander of the rate grows with the duration.
  private static let hullCube = 1e9
  private static let minimumHullCube = 64.0
  /// The least number of readings, and the shortest time in seconds, for a line through the hull.
  private static let minimumHullReadings = 12.0
  private static let firstHullSeconds = 0.5
  /// The nanoseconds after its start for which the line is more accurate than the Kalman filter, if
  /// readings are frequent.
  private static let startUpNanoseconds: UInt64 = 8_000_000_000
  /// The oldest third of the stretches with another rate may still have the previous rate: the time
  /// of a change is known to about a third of the time since the change.
  private static let mixedPart = 3

  private let nominalFramesPerSecond: Double
  private var hull: ArrivalHull
  /// The initial rate of the clock and its uncertainty, in frames per second.
  private var firstRate: Double
  private var firstRateUncertainty = 0.0
  /// The relative uncertainty of the rate.
  private(set) var rateUncertainty = initialRateUncertainty
  /// The time in nanoseconds since which the clock follows this line.
  private var begunNanoseconds: UInt64 = 0
  /// The number of oldest stretches that may belong to the previous rate, and the number of
  /// stretches at which these are removed.
  private var mixed = 0
  private var enoughWithoutMixed = 0

  /// Creates the line of an unknown clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
    firstRate = framesPerSecond
    hull = ArrivalHull(framesPerSecond: framesPerSecond)
  }

  /// Returns whether the line is more accurate than the Kalman filter at `time`, if readings are
  /// frequent.
  @_noLocks
  func isStartUp(at time: UInt64) -> Bool { time &- begunNanoseconds < Self.startUpNanoseconds }

  /// Ends the start-up time, so that the Kalman filters are used from now on.
  @_noLocks
  mutating func endStartUp() { begunNanoseconds = 0 }

  /// Records that the clock restarted at `time`. All earlier readings belong to another line.
  @_noLocks
  mutating func begin(at time: UInt64) { begunNanoseconds = time }

  /// Removes all readings.
  @_noLocks
  mutating func clear() {
    hull.clear()
    mixed = 0
  }

  /// Adds the readings of the stretch that followed the last one.
  @_noLocks
  mutating func take(_ stretch: ReadingStretch) {
    hull.take(stretch)
    guard mixed > 0, hull.count >= enoughWithoutMixed else { return }
    hull.removeOldest(mixed)
    mixed = 0
  }

  /// Starts another line of the same rate, `framesPerSecond`, for the readings to come.
  @_noLocks
  mutating func keepRate(_ framesPerSecond: Double) {
    firstRate = framesPerSecond
    firstRateUncertainty =
      nominalFramesPerSecond * min(rateUncertainty, Self.crystalRateUncertainty)
  }

  /// Lowers the uncertainty of the rate to that of a line through the earliest readings of
  /// `seconds`. See `found`.
  @_noLocks
  mutating func limitRateUncertainty(after seconds: Double, _ pattern: ReadingPattern) {
    guard seconds > 2 else { return }
    let uncertainty =
      16 * pattern.lateness * pattern.interval / (seconds * seconds * nominalFramesPerSecond)
    rateUncertainty = min(rateUncertainty, max(Self.minimumRateUncertainty, uncertainty))
  }

  /// Discards the knowledge of the rate before `time`. Only readings from `time` on count.
  @_noLocks
  mutating func forgetRate(before time: UInt64) {
    begunNanoseconds = time
    (firstRateUncertainty, rateUncertainty) = (.infinity, Self.initialRateUncertainty)
  }

  /// Removes readings that are too old for a line or have another rate. Returns the time in
  /// nanoseconds of the oldest reading of the present rate, or nil if the rate did not change.
  @_noLocks
  mutating func forgetOld(_ pattern: ReadingPattern) -> UInt64? {
    hull.keep(cubicSeconds: max(Self.minimumHullCube, Self.hullCube * pattern.roughness))
    return hull.forgetAnotherRate() ? hull.oldestNanoseconds : nil
  }

  /// Returns the change of the rate over the stretches. See `ArrivalHull`.
  @_noLocks
  mutating func rateTrend(isSuspected: Bool) -> RateTrend? {
    hull.rateTrend(isSuspected: isSuspected)
  }

  /// Keeps only the last `newest` stretches, which have another rate than the others. Returns the
  /// time in nanoseconds at which they begin.
  @_noLocks
  mutating func keep(newest: Int) -> UInt64 {
    hull.removeOldest(hull.count &- newest)
    (mixed, enoughWithoutMixed) = (newest / Self.mixedPart, 2 &* newest)
    return hull.oldestNanoseconds
  }

  /// Returns the line at `time`. Returns nil if the readings do not determine the rate yet and the
  /// initial rate is no longer valid or will soon be known better.
  @_noLocks
  mutating func found(at time: UInt64, _ pattern: ReadingPattern) -> LineEstimate? {
    let isKnown = pattern.isInfrequent || rateUncertainty < Self.crystalRateUncertainty
    let knownRateUncertainty = isKnown ? firstRateUncertainty : .infinity
    let span = hull.span ?? 0
    let uncertainty = pattern.uncertainty(in: span)
    guard span > Self.firstHullSeconds, span / pattern.interval > Self.minimumHullReadings else {
      guard knownRateUncertainty < .infinity else { return nil }
      let position = hull.frames(at: time, framesPerSecond: firstRate)
      return LineEstimate(
        frames: position + (pattern.isCoarse ? 0 : uncertainty), framesPerSecond: firstRate,
        uncertainty: pattern.lateness, rateUncertainty: knownRateUncertainty)
    }
    let found = hull.rate
    let rateUncertainty = 8 * found.errorPart * uncertainty / span
    let ratio = rateUncertainty / knownRateUncertainty
    let weight = 1 / (1 + ratio * ratio)
    let rate = firstRate + weight * (found.framesPerSecond - firstRate)
    let late = uncertainty * (pattern.isCoarse ? 1 : 1 + Self.rateLateness * weight)
    return LineEstimate(
      frames: hull.frames(at: time, framesPerSecond: rate) + late, framesPerSecond: rate,
      uncertainty: 2 * uncertainty, rateUncertainty: min(rateUncertainty, knownRateUncertainty))
  }
}
