// Audio thread.

/// Timing of a clock's readings: their lateness and their interval.
@usableFromInline
struct ReadingPattern: BitwiseCopyable, Sendable {
  /// The product of the lateness and the reading interval, in square seconds, above which the hull
  /// is more accurate than the Kalman filter.
  private static let coarseness = 1.8e-6
  /// The reading interval in seconds below which the hull is more accurate than the filter at
  /// first.
  private static let oftenSeconds = 0.003
  /// The reading interval in seconds above which readings determine the rate slowly.
  private static let seldomSeconds = 0.006

  private let nominalFramesPerSecond: Double
  /// The usual number of frames by which a reading is later than the earliest of its stretch.
  @usableFromInline
  private(set) var lateness = 0.0
  /// The mean time between readings, in seconds.
  private(set) var interval = 0.0

  /// Creates the pattern of an unknown clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) { nominalFramesPerSecond = framesPerSecond }

  /// Discards all readings.
  @_noLocks
  mutating func clear() { (lateness, interval) = (0, 0) }

  /// Adds the readings of a stretch that ended at `time`.
  @_noLocks
  mutating func take(_ stretch: ReadingStretch, endingAt time: UInt64) {
    let late = stretch.lateness
    lateness = lateness > 0 ? lateness + (late - lateness) / 4 : late
    let apart = Double(time &- stretch.since) * 1e-9 / Double(stretch.count)
    interval = interval > 0 ? interval + (apart - interval) / 4 : apart
  }

  /// The largest lateness of readings in seconds, if the lateness is evenly distributed.
  private var latenessSeconds: Double {
    @_noLocks get { 2 * lateness / nominalFramesPerSecond }
  }

  /// The product of the lateness and the reading interval, in square seconds.
  var roughness: Double {
    @_noLocks get { latenessSeconds * interval }
  }

  /// Whether readings are so late and so rare that the hull is more accurate.
  var isCoarse: Bool {
    @_noLocks get { roughness > Self.coarseness }
  }

  /// Whether readings are so frequent that the hull is more accurate than the filter at first, and
  /// shows small changes.
  var isFrequent: Bool {
    @_noLocks get { interval < Self.oftenSeconds }
  }

  /// Whether 100 ms contain only a few readings.
  var isInfrequent: Bool {
    @_noLocks get { interval > Self.seldomSeconds }
  }

  /// Returns the mean lateness in frames of the earliest of all readings within `seconds`.
  @_noLocks
  func uncertainty(in seconds: Double) -> Double {
    let readings = seconds / interval
    return readings > 1 ? 2 * lateness / readings : 0
  }
}
