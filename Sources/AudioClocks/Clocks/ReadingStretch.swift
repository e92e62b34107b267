// Audio thread.

/// The readings of a clock within a stretch of time: the earliest one and the latest one of them,
/// and how the others lie between these.
///
/// The lead of a reading is the number of frames by which it is ahead of an estimate of the clock.
struct ReadingStretch: BitwiseCopyable, Sendable {
  /// When it began, in nanoseconds.
  private(set) var since: UInt64 = 0
  private(set) var count = 0
  /// The reading with the largest lead, and the one with the smallest.
  private(set) var earliest = ClockReading(frames: 0, nanoseconds: 0)
  private(set) var latest = ClockReading(frames: 0, nanoseconds: 0)
  /// The lead of the earliest reading.
  private(set) var lead = 0.0
  private var leastLead = 0.0
  private var sum = 0.0
  private var squares = 0.0

  /// No readings yet.
  @_noLocks
  init() {}

  /// No readings yet of the time after `since`.
  @_noLocks
  init(since: UInt64) { self.since = since }

  /// Takes in a reading that is ahead of the estimate by `lead` frames.
  @_noLocks
  mutating func take(_ reading: ClockReading, lead: Double) {
    if count == 0 || lead > self.lead {
      self.lead = lead
      earliest = reading
    }
    if count == 0 || lead < leastLead {
      leastLead = lead
      latest = reading
    }
    count &+= 1
    sum += lead
    squares += lead * lead
  }

  /// The estimate goes through the earliest reading from now on: no lead is above 0.
  @_noLocks
  mutating func moveEstimateToEarliest() {
    leastLead -= lead
    lead = 0
  }

  /// Frames by which the readings are later than the earliest of them, as a mean.
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

  /// Frames by which the earliest of `count` readings is late as a mean, where they are late by
  /// `lateness` as a mean. Of n readings that are late by 0 to L, all equally likely, that is L /
  /// (n + 1), and L is twice their mean.
  @_noLocks
  static func uncertainty(lateness: Double, count: Int) -> Double {
    2 * lateness / Double(count &+ 1)
  }
}
