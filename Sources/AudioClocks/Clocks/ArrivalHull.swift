// Audio thread.

/// The line through the earliest readings of a clock: an edge of their upper convex hull.
///
/// A reading is late by chance and never early, so no reading lies above the clock's own line, frames
/// over time. S. B. Moon, P. Skelly and D. Towsley, "Estimation and Removal of Clock Skew from Network
/// Delay Measurements" (IEEE INFOCOM 1999), take the line above all readings that is nearest to them: of
/// the hull's edges the one at the middle of the readings. Of n readings that are late by 0 to L its error
/// falls as L / n, where that of a mean falls as L / √n.
///
/// It is given the earliest reading of each stretch of time only, and keeps 32 of them: the work is
/// bounded, and is done once a stretch.
struct ArrivalHull: BitwiseCopyable, Sendable {
  private static var capacity: Int { @_noLocks get { 32 } }
  /// Readings that are enough to tell whether a line fits them.
  private static var leastForFit: Int { @_noLocks get { 8 } }
  /// Positions are whole frames: as a mean, a reading lies so far below its line for that alone.
  private static let roundingFrames = 0.75
  /// How many times further below their line than as a mean readings do not lie by chance.
  private static let unlikely = 3.0

  private let nominalFramesPerSecond: Double
  private var first = ClockReading(frames: 0, nanoseconds: 0)
  /// The readings, the oldest one first: seconds since the first of all, and frames by which the clock
  /// is ahead of its nominal rate.
  private var times = SIMD32<Double>()
  private var leads = SIMD32<Double>()
  /// Frames by which each is late as a mean.
  private var doubts = SIMD32<Double>()
  private var count = 0

  /// No readings yet of a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
  }

  /// Forgets all readings.
  @_noLocks
  mutating func clear() { count = 0 }

  /// Takes in the earliest reading of a stretch that followed the last one. Such readings are late by
  /// `doubt` frames as a mean.
  @_noLocks
  mutating func take(_ reading: ClockReading, doubt: Double) {
    if count == 0 { first = reading }
    if count == Self.capacity { removeOldest(1) }
    let time = seconds(at: reading.nanoseconds)
    times[count] = time
    leads[count] = Double(reading.frames &- first.frames) - nominalFramesPerSecond * time
    doubts[count] = doubt
    count &+= 1
  }

  /// Forgets readings that are older than a time whose cube is `cubicSeconds`.
  @_noLocks
  mutating func keep(cubicSeconds: Double) {
    var old = 0
    while old < count {
      let age = times[count &- 1] - times[old]
      guard age * age * age > cubicSeconds else { break }
      old &+= 1
    }
    if old > 0 { removeOldest(old) }
  }

  @_noLocks
  private mutating func removeOldest(_ readings: Int) {
    for index in readings..<count {
      times[index &- readings] = times[index]
      leads[index &- readings] = leads[index]
      doubts[index &- readings] = doubts[index]
    }
    count &-= readings
  }

  /// Where the readings lie further below their line than by chance, the clock changed its rate: forgets
  /// the older half until they do not. Returns whether it forgot any.
  @_noLocks
  mutating func forgetAnotherRate() -> Bool {
    var hasForgotten = false
    while count >= Self.leastForFit {
      let edge = edge
      let rate = slope(from: edge.start, to: edge.end)
      var (distance, doubt) = (0.0, 0.0)
      for index in 0..<count {
        distance += leads[edge.start] + rate * (times[index] - times[edge.start]) - leads[index]
        doubt += doubts[index]
      }
      guard distance > Double(count) * Self.roundingFrames + Self.unlikely * doubt else { break }
      removeOldest(count / 2)
      hasForgotten = true
    }
    return hasForgotten
  }

  /// The time of the oldest reading.
  var oldestNanoseconds: UInt64 {
    @_noLocks get { first.nanoseconds &+ UInt64(clamping: times[0] * 1e9) }
  }

  /// The hull's edge at the middle of the readings.
  private var edge: (start: Int, end: Int) {
    @_noLocks get {
      let middle = (times[0] + times[count &- 1]) / 2
      // Where the hull comes to from before the middle, the steepest way on.
      var start = 0
      var end = steepest(from: 0)
      while times[end] < middle {
        start = end
        end = steepest(from: start)
      }
      return (start, end)
    }
  }

  /// Seconds from the oldest reading to the newest; nil of fewer than three.
  var span: Double? {
    @_noLocks get { count > 2 ? times[count &- 1] - times[0] : nil }
  }

  /// Frames a second of the line that no reading lies above and that is nearest to all of them.
  var framesPerSecond: Double {
    @_noLocks get {
      let (start, end) = edge
      return nominalFramesPerSecond + slope(from: start, to: end)
    }
  }

  /// Where the lowest line of `framesPerSecond` that no reading lies above is at a time.
  @_noLocks
  func frames(at nanoseconds: UInt64, framesPerSecond: Double) -> Double {
    let time = seconds(at: nanoseconds)
    let rate = framesPerSecond - nominalFramesPerSecond
    var lead = -Double.infinity
    for index in 0..<count { lead = max(lead, leads[index] + rate * (time - times[index])) }
    return Double(first.frames) + nominalFramesPerSecond * time + lead
  }

  /// The vertex that follows one which is not the last.
  @_noLocks
  private func steepest(from start: Int) -> Int {
    var best = start &+ 1
    for end in best..<count where slope(from: start, to: end) >= slope(from: start, to: best) {
      best = end
    }
    return best
  }

  @_noLocks
  private func slope(from start: Int, to end: Int) -> Double {
    (leads[end] - leads[start]) / (times[end] - times[start])
  }

  @_noLocks
  private func seconds(at nanoseconds: UInt64) -> Double {
    Double(Int64(bitPattern: nanoseconds &- first.nanoseconds)) * 1e-9
  }
}
