// Audio thread.

/// The readings of a clock within a stretch of time: the earliest and the latest of them, and the
/// distribution of the others.
///
/// The lead of a reading is the number of frames by which it is ahead of an estimate of the clock.
struct ReadingStretch: BitwiseCopyable, Sendable {
  /// The time in nanoseconds at which the stretch began.
  private(set) var since: UInt64 = 0
  private(set) var count = 0
  /// The reading with the largest lead, and the one with the smallest.
  private(set) var earliest = ClockReading(frames: 0, nanoseconds: 0)
  private(set) var latest = ClockReading(frames: 0, nanoseconds: 0)
  /// The lead of the earliest reading.
  private(set) var lead = 0.0
  private var minimumLead = 0.0
  private var sum = 0.0
  private var squares = 0.0

  /// Creates a stretch without readings.
  @_noLocks
  init() {}

  /// Creates a stretch without readings that begins at `since`.
  @_noLocks
  init(since: UInt64) { self.since = since }

  /// Adds a reading that is ahead of the estimate by `lead` frames.
  @_noLocks
  mutating func take(_ reading: ClockReading, lead: Double) {
    if count == 0 || lead > self.lead {
      self.lead = lead
      earliest = reading
    }
    if count == 0 || lead < minimumLead {
      minimumLead = lead
      latest = reading
    }
    count &+= 1
    sum += lead
    squares += lead * lead
  }

  /// Adjusts the leads because the estimate passes through the earliest reading from now on. No
  /// lead is then above 0.
  @_noLocks
  mutating func moveEstimateToEarliest() {
    minimumLead -= lead
    lead = 0
  }

  /// The mean number of frames by which the readings are later than the earliest of them.
  var lateness: Double {
    @_noLocks get { count > 1 ? lead - sum / Double(count) : 0 }
  }

  /// The variance of the leads.
  var variance: Double {
    @_noLocks get {
      let mean = sum / Double(max(1, count))
      return max(0, squares / Double(max(1, count)) - mean * mean)
    }
  }

  /// Returns the mean lateness in frames of the earliest of `count` readings whose mean lateness is
  /// `lateness`. For n readings that are late by 0 to L with equal probability, it is L / (n + 1),
  /// and L is twice their mean.
  @_noLocks
  static func uncertainty(lateness: Double, count: Int) -> Double {
    2 * lateness / Double(count &+ 1)
  }
}
