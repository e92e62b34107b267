// Audio thread.

/// Timing of a clock's readings: how late, and how often they come.
@usableFromInline
struct ReadingPattern: BitwiseCopyable, Sendable {
  /// Seconds of lateness times seconds from one reading to the next, from which on the hull knows
  /// more than the Kalman filter.
  private static let coarseness = 1.8e-6
  /// Seconds from one reading to the next where the hull knows more than the filter at first.
  private static let oftenSeconds = 0.003
  /// Seconds from one reading to the next of a clock whose rate is told slowly.
  private static let seldomSeconds = 0.006

  private let nominalFramesPerSecond: Double
  /// By how many frames a reading is usually later than the earliest of its stretch.
  @usableFromInline
  private(set) var lateness = 0.0
  /// Seconds from one reading to the next.
  private(set) var interval = 0.0

  /// Nothing is known yet of a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) { nominalFramesPerSecond = framesPerSecond }

  /// Forgets all.
  @_noLocks
  mutating func clear() { (lateness, interval) = (0, 0) }

  /// Takes in the readings of a stretch that ended at `time`.
  @_noLocks
  mutating func take(_ stretch: ReadingStretch, endingAt time: UInt64) {
    let late = stretch.lateness
    lateness = lateness > 0 ? lateness + (late - lateness) / 4 : late
    let apart = Double(time &- stretch.since) * 1e-9 / Double(stretch.count)
    interval = interval > 0 ? interval + (apart - interval) / 4 : apart
  }

  /// The most seconds by which readings are late, where all up to that are equally likely.
  private var latenessSeconds: Double {
    @_noLocks get { 2 * lateness / nominalFramesPerSecond }
  }

  /// Seconds of lateness times seconds from one reading to the next.
  var roughness: Double {
    @_noLocks get { latenessSeconds * interval }
  }

  /// Whether readings come so late and so seldom that the hull knows more.
  var isCoarse: Bool {
    @_noLocks get { roughness > Self.coarseness }
  }

  /// Whether readings come so often that the hull knows more than the filter at first, and tells of
  /// small changes.
  var isFrequent: Bool {
    @_noLocks get { interval < Self.oftenSeconds }
  }

  /// Whether a tenth of a second has a few of them only.
  var isInfrequent: Bool {
    @_noLocks get { interval > Self.seldomSeconds }
  }

  /// Frames by which the earliest of all readings of `seconds` is late, as a mean.
  @_noLocks
  func uncertainty(in seconds: Double) -> Double {
    let readings = seconds / interval
    return readings > 1 ? 2 * lateness / readings : 0
  }
}
