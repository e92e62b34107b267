// Audio thread.

/// The straight line of a clock that runs at one rate: by the hull of its readings and by the rate
/// that it began with, each as far as it is known.
struct ClockLine: BitwiseCopyable, Sendable {
  /// A place on the line, its slope, and by how much these may be wrong.
  struct Found: BitwiseCopyable {
    var frames: Double
    var framesPerSecond: Double
    var uncertainty: Double
    var rateUncertainty: Double
  }

  /// What the rate's own error adds to the mean lateness of the hull's line at its end, as a part
  /// of what the earliest of all readings is late by (simulated: 1,700 gaps of an input, a step of
  /// the rate every 40 s).
  private static let rateLateness = 0.6
  /// By which part of itself the rate of a clock that nothing is known of may be wrong, and of one
  /// that was known well.
  private static let initialRateUncertainty = 0.003
  private static let leastRateUncertainty = 0.00002
  /// The same of a clock whose readings tell it so slowly that it matters what crystals are like.
  private static let crystalRateUncertainty = 0.0005
  /// The cube of the hull's seconds for each second of lateness times a second from one reading to
  /// the next: its error of the rate falls with their square, and a wander of the rate grows with
  /// them.
  private static let hullCube = 1e9
  private static let leastHullCube = 64.0
  /// Readings, and seconds, that a hull needs for a line.
  private static let leastHullReadings = 12.0
  private static let firstHullSeconds = 0.5
  /// Nanoseconds from its beginning in which the line knows more than the Kalman filter, where
  /// readings come often.
  private static let startUpNanoseconds: UInt64 = 8_000_000_000
  /// Of the stretches with another rate the oldest third may still have the rate before: the time
  /// of a change is known to about a third of the time since then.
  private static let mixedPart = 3

  private let nominalFramesPerSecond: Double
  private var hull: ArrivalHull
  /// The rate that the clock began with, and by how much that may be wrong, in frames a second.
  private var firstRate: Double
  private var firstRateUncertainty = 0.0
  /// By which part of itself the rate may be wrong.
  private(set) var rateUncertainty = initialRateUncertainty
  /// Since when it is this line.
  private var begunNanoseconds: UInt64 = 0
  /// Stretches that may tell of the rate before, and how many there must be until they are left
  /// out.
  private var mixed = 0
  private var enoughWithoutMixed = 0

  /// The line of a clock of nominally `framesPerSecond`, of which nothing is known yet.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
    firstRate = framesPerSecond
    hull = ArrivalHull(framesPerSecond: framesPerSecond)
  }

  /// Whether it knows more than the Kalman filter at `time`, where readings come often.
  @_noLocks
  func isStartUp(at time: UInt64) -> Bool { time &- begunNanoseconds < Self.startUpNanoseconds }

  /// The Kalman filters know more from now on.
  @_noLocks
  mutating func endStartUp() { begunNanoseconds = 0 }

  /// The clock began anew at `time`, and all readings before that belong to another line.
  @_noLocks
  mutating func begin(at time: UInt64) { begunNanoseconds = time }

  /// Forgets all readings.
  @_noLocks
  mutating func clear() {
    hull.clear()
    mixed = 0
  }

  /// Takes in the readings of the stretch that followed the last one.
  @_noLocks
  mutating func take(_ stretch: ReadingStretch) {
    hull.take(stretch)
    guard mixed > 0, hull.count >= enoughWithoutMixed else { return }
    hull.removeOldest(mixed)
    mixed = 0
  }

  /// The readings to come are those of another line of the same rate, `framesPerSecond`.
  @_noLocks
  mutating func keepRate(_ framesPerSecond: Double) {
    firstRate = framesPerSecond
    firstRateUncertainty =
      nominalFramesPerSecond * min(rateUncertainty, Self.crystalRateUncertainty)
  }

  /// The rate is known as well as by a line through the earliest readings of `seconds`, see
  /// `found`.
  @_noLocks
  mutating func knowRate(after seconds: Double, _ pattern: ReadingPattern) {
    guard seconds > 2 else { return }
    let uncertainty =
      16 * pattern.lateness * pattern.interval / (seconds * seconds * nominalFramesPerSecond)
    rateUncertainty = min(rateUncertainty, max(Self.leastRateUncertainty, uncertainty))
  }

  /// Of the clock's rate is known what the readings from `time` on tell, and no more.
  @_noLocks
  mutating func forgetRate(before time: UInt64) {
    begunNanoseconds = time
    (firstRateUncertainty, rateUncertainty) = (.infinity, Self.initialRateUncertainty)
  }

  /// Forgets readings that are too old for a line, or tell of another rate. Returns since when they
  /// tell of the present one, if they did.
  @_noLocks
  mutating func forgetOld(_ pattern: ReadingPattern) -> UInt64? {
    hull.keep(cubicSeconds: max(Self.leastHullCube, Self.hullCube * pattern.roughness))
    return hull.forgetAnotherRate() ? hull.oldestNanoseconds : nil
  }

  /// How the rate went: see `ArrivalHull`.
  @_noLocks
  mutating func rateTrend(isSuspected: Bool) -> RateTrend? {
    hull.rateTrend(isSuspected: isSuspected)
  }

  /// Keeps only the last `newest` stretches, which have another rate than the others. Returns when
  /// they begin.
  @_noLocks
  mutating func keep(newest: Int) -> UInt64 {
    hull.removeOldest(hull.count &- newest)
    (mixed, enoughWithoutMixed) = (newest / Self.mixedPart, 2 &* newest)
    return hull.oldestNanoseconds
  }

  /// The line at `time`. Nil where the readings tell nothing of the rate yet, and the first one is
  /// no longer right or will soon be known better.
  @_noLocks
  mutating func found(at time: UInt64, _ pattern: ReadingPattern) -> Found? {
    let isKnown = pattern.isInfrequent || rateUncertainty < Self.crystalRateUncertainty
    let knownRateUncertainty = isKnown ? firstRateUncertainty : .infinity
    let span = hull.span ?? 0
    let uncertainty = pattern.uncertainty(in: span)
    guard span > Self.firstHullSeconds, span / pattern.interval > Self.leastHullReadings else {
      guard knownRateUncertainty < .infinity else { return nil }
      let position = hull.frames(at: time, framesPerSecond: firstRate)
      return Found(
        frames: position + (pattern.isCoarse ? 0 : uncertainty), framesPerSecond: firstRate,
        uncertainty: pattern.lateness, rateUncertainty: knownRateUncertainty)
    }
    let found = hull.rate
    let rateUncertainty = 8 * found.errorPart * uncertainty / span
    let ratio = rateUncertainty / knownRateUncertainty
    let weight = 1 / (1 + ratio * ratio)
    let rate = firstRate + weight * (found.framesPerSecond - firstRate)
    let late = uncertainty * (pattern.isCoarse ? 1 : 1 + Self.rateLateness * weight)
    return Found(
      frames: hull.frames(at: time, framesPerSecond: rate) + late, framesPerSecond: rate,
      uncertainty: 2 * uncertainty, rateUncertainty: min(rateUncertainty, knownRateUncertainty))
  }
}
