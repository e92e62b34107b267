// Audio thread.

/// The line of a clock through its readings, in frames over time. The line is fitted to the
/// earliest readings only, or to the earliest and the latest readings.
///
/// A reading can be late by chance and is never early, so no reading lies above the true line of
/// the clock. S. B. Moon, P. Skelly and D. Towsley, "Estimation and Removal of Clock Skew from
/// Network Delay Measurements" (IEEE INFOCOM 1999), use the line above all readings that is nearest
/// to them. It is the edge of the upper convex hull at the middle of the readings. For n readings
/// that are late by 0 to L, its error falls as L / n, while the error of a mean falls as L / √n.
///
/// If the lateness is evenly distributed up to a maximum, as for a device that is read at uneven
/// times, the latest readings carry as much information as the earliest. All readings are then in a
/// strip that has the slope of the clock and the height L. The likelihood of a slope falls as the
/// n-th power of the height of its strip rises. The estimate is the midpoint of the slopes whose
/// strip is higher than the lowest strip by at most 3 / n of the lowest height. Its error is two
/// thirds of the error of the hull's edge (simulated, n = 350) and no larger than that of Pitman's
/// estimator, the mean of that likelihood.
///
/// The hull receives the readings one stretch of time after the other and keeps the earliest and
/// the latest reading of 64 stretches, so the work is bounded and is done once per stretch. Methods
/// that only read the stretches are `mutating` too: a `mutating` method reads them in place, while
/// each call of a non-mutating method would first copy 2.5 KB.
struct ArrivalHull: BitwiseCopyable, Sendable {
  /// Summary of a stretch of readings. Times are in seconds. Leads are the frames by which the
  /// clock is ahead of its nominal rate.
  struct Stretch: BitwiseCopyable {
    /// The time of the earliest reading, in seconds since the first reading of all.
    var time = 0.0
    var lead = 0.0
    /// The time and the lead of the latest reading, relative to the earliest one.
    var secondsToLatest: Float = 0
    var leadToLatest: Float = 0
    /// The number of readings, the mean number of frames by which they are later than the earliest,
    /// and the variance of these frames.
    var count: Float = 0
    var lateness: Float = 0
    var variance: Float = 0

    @_noLocks
    init() {}
  }

  private static var capacity: Int { @_noLocks get { 64 } }
  /// The number of stretches that is enough to test whether a line fits them.
  private static var minimumFitCount: Int { @_noLocks get { 8 } }
  /// The variance of the rounding of positions to whole frames.
  private static let roundingVariance = 1.0 / 12
  /// The mean distance in frames by which rounding alone puts a reading below its line.
  private static let roundingFrames = 0.75
  /// The factor by which the distances from a line must exceed the changes between successive
  /// distances to count as more than chance.
  private static let unlikelyRatio = 3.0
  /// The number of variances above which the square of an error is more than chance: five standard
  /// deviations.
  private static let unlikely = 25.0

  private let nominalFramesPerSecond: Double
  private var first = ClockReading(frames: 0, nanoseconds: 0)
  /// The stretches, oldest first.
  private(set) var stretches = InlineArray<64, Stretch>(repeating: Stretch())
  /// The number of valid elements in `stretches`.
  private(set) var count = 0

  /// Creates an empty hull for a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
  }

  /// Removes all readings.
  @_noLocks
  mutating func clear() { count = 0 }

  /// Adds the readings of the stretch that followed the last one.
  @_noLocks
  mutating func take(_ readings: ReadingStretch) {
    if count == 0 { first = readings.earliest }
    if count == Self.capacity { removeOldest(1) }
    var stretch = Stretch()
    stretch.time = seconds(at: readings.earliest.nanoseconds)
    stretch.lead = lead(of: readings.earliest)
    stretch.secondsToLatest = Float(seconds(at: readings.latest.nanoseconds) - stretch.time)
    stretch.leadToLatest = Float(lead(of: readings.latest) - stretch.lead)
    stretch.count = Float(readings.count)
    stretch.lateness = Float(readings.lateness)
    stretch.variance = Float(readings.variance)
    stretches[count] = stretch
    count &+= 1
  }

  /// Removes stretches whose age, relative to the newest stretch, has a cube above `cubicSeconds`.
  @_noLocks
  mutating func keep(cubicSeconds: Double) {
    var old = 0
    while old < count {
      let age = stretches[count &- 1].time - stretches[old].time
      guard age * age * age > cubicSeconds else { break }
      old &+= 1
    }
    if old > 0 { removeOldest(old) }
  }

  /// Removes the `number` oldest stretches.
  @_noLocks
  mutating func removeOldest(_ number: Int) {
    for index in number..<count { stretches[index &- number] = stretches[index] }
    count &-= number
  }

  /// Removes the older half of the readings while they have another rate than the newest quarter.
  /// Returns whether it removed any.
  @_noLocks
  mutating func forgetAnotherRate() -> Bool {
    var hasForgotten = false
    while count >= Self.minimumFitCount, newestQuarterDeviates || isFarBelow {
      removeOldest(count / 2)
      hasForgotten = true
    }
    return hasForgotten
  }

  /// Whether the earliest readings are further below the hull's edge than chance explains. For
  /// independent errors, these distances change from one to the next by about their own size (J.
  /// von Neumann's ratio, 1941). Distances caused by another rate change evenly.
  private var isFarBelow: Bool {
    @_noLocks mutating get {
      let slope = edgeSlope
      let top = top(slope)
      var (distance, changes, last) = (0.0, 0.0, 0.0)
      for index in 0..<count {
        let below = top - excess(at: index, over: slope)
        distance += below
        changes += index > 0 ? abs(below - last) : 0
        last = below
      }
      return distance > Double(count) * Self.roundingFrames + Self.unlikelyRatio * changes
    }
  }

  /// Whether the mean of the newest quarter of the earliest readings is further from the
  /// least-squares line through the other readings than chance explains, given the variance of such
  /// a prediction. The distribution of the lateness does not matter.
  private var newestQuarterDeviates: Bool {
    @_noLocks mutating get {
      let old = count &- count / 4
      let (mean, newest) = (center(0..<old), center(old..<count))
      var (times, products, squares) = (0.0, 0.0, 0.0)
      for index in 0..<old {
        let time = stretches[index].time - mean.time
        let lead = stretches[index].lead - mean.lead
        times += time * time
        products += time * lead
        squares += lead * lead
      }
      let slope = products / times
      let freedom = Double(old &- 2)
      let variance = max(0, squares - slope * products) / freedom + Self.roundingVariance
      let ahead = newest.time - mean.time
      let off = newest.lead - mean.lead - slope * ahead
      let spread = 1 / Double(count &- old) + 1 / Double(old) + ahead * ahead / times
      // A variance estimated from few values is itself uncertain.
      return off * off > Self.unlikely * (1 + 12 / freedom) * variance * spread
    }
  }

  /// Returns the mean time and lead of the earliest readings of the stretches in `range`.
  @_noLocks
  private mutating func center(_ range: Range<Int>) -> (time: Double, lead: Double) {
    var (time, lead) = (0.0, 0.0)
    for index in range {
      time += stretches[index].time
      lead += stretches[index].lead
    }
    let number = Double(range.count)
    return (time / number, lead / number)
  }

  /// The time of the oldest reading, in nanoseconds.
  var oldestNanoseconds: UInt64 {
    @_noLocks mutating get { first.nanoseconds &+ UInt64(clamping: stretches[0].time * 1e9) }
  }

  /// The slope of the hull's edge at the middle of the readings.
  private var edgeSlope: Double {
    @_noLocks mutating get {
      let middle = (stretches[0].time + stretches[count &- 1].time) / 2
      // From the last vertex before the middle, the steepest slope leads to the next vertex.
      var start = 0
      var end = steepest(from: 0)
      while stretches[end].time < middle {
        start = end
        end = steepest(from: start)
      }
      return slope(from: start, to: end)
    }
  }

  /// The seconds from the oldest reading to the newest, or nil if there are fewer than three.
  var span: Double? {
    @_noLocks mutating get { count > 2 ? stretches[count &- 1].time - stretches[0].time : nil }
  }

  /// The rate of the line through the readings in frames per second, and the ratio of its error to
  /// the error of the hull's edge.
  var rate: (framesPerSecond: Double, errorPart: Double) {
    @_noLocks mutating get {
      if let slope = stripSlope { return (nominalFramesPerSecond + slope, 2.0 / 3) }
      return (nominalFramesPerSecond + edgeSlope, 1)
    }
  }

  /// Returns the position in frames, at a time, of the lowest line of slope `framesPerSecond` that
  /// no reading lies above.
  @_noLocks
  mutating func frames(at nanoseconds: UInt64, framesPerSecond: Double) -> Double {
    let time = seconds(at: nanoseconds)
    let slope = framesPerSecond - nominalFramesPerSecond
    return Double(first.frames) + nominalFramesPerSecond * time + slope * time + top(slope)
  }

  /// Returns the hull vertex that follows `start`, which must not be the last stretch.
  @_noLocks
  private mutating func steepest(from start: Int) -> Int {
    var best = start &+ 1
    for end in best..<count where slope(from: start, to: end) >= slope(from: start, to: best) {
      best = end
    }
    return best
  }

  @_noLocks
  private mutating func slope(from start: Int, to end: Int) -> Double {
    (stretches[end].lead - stretches[start].lead) / (stretches[end].time - stretches[start].time)
  }

  @_noLocks
  private func seconds(at nanoseconds: UInt64) -> Double {
    Double(Int64(bitPattern: nanoseconds &- first.nanoseconds)) * 1e-9
  }

  @_noLocks
  private func lead(of reading: ClockReading) -> Double {
    Double(reading.frames &- first.frames)
      - nominalFramesPerSecond * seconds(at: reading.nanoseconds)
  }
}

/// The strip between two parallel lines that contains all readings.
extension ArrivalHull {
  /// The largest relative increase of the strip height over the lowest strip, times the number of
  /// readings, for which a slope is likely.
  private static let likelyRise = 3.0
  /// The number of standard deviations by which the mean and the variance of evenly distributed
  /// values may differ from their expected values.
  private static let likelyDeviations = 2.5

  /// The midpoint of the likely slopes, or nil if the lateness is not evenly distributed.
  private var stripSlope: Double? {
    @_noLocks mutating get {
      var readings = 0.0
      for index in 0..<count { readings += Double(stretches[index].count) }
      guard let span, span > 0, readings > 0 else { return nil }
      let start = edgeSlope
      // Far more than the error of the edge.
      let reach = 40 * height(start) / (readings * span)
      let lowest = lowestStrip(from: start - reach, to: start + reach)
      let height = height(lowest)
      guard isEvenlyDistributed(in: height, slope: lowest, readings: readings) else { return nil }
      let limit = height * (1 + Self.likelyRise / readings)
      return
        (slope(from: lowest, by: -reach, below: limit)
        + slope(from: lowest, by: reach, below: limit)) / 2
    }
  }

  /// Returns whether the readings are evenly distributed in a strip. The mean of evenly distributed
  /// values is half the height, and their variance is a twelfth of its square. For n values, these
  /// deviate by √(1/12) and √(1/180) of the height and of its square, over √n.
  @_noLocks
  private mutating func isEvenlyDistributed(in height: Double, slope: Double, readings: Double)
    -> Bool
  {
    let top = top(slope)
    var (mean, square) = (0.0, 0.0)
    for index in 0..<count {
      let late = top - excess(at: index, over: slope) + Double(stretches[index].lateness)
      let share = Double(stretches[index].count) / readings
      mean += share * late
      square += share * (late * late + Double(stretches[index].variance))
    }
    let variance = (square - mean * mean) / (height * height)
    let offCenter = mean / height - 0.5
    let limit = Self.likelyDeviations * Self.likelyDeviations / readings
    let excess = variance - 1.0 / 12
    return offCenter * offCenter < limit / 12 && excess * excess < limit / 180
  }

  /// Returns the lead, at the time of the first reading, of the highest line of this slope through
  /// a reading.
  @_noLocks
  private mutating func top(_ slope: Double) -> Double {
    var top = -Double.infinity
    for index in 0..<count { top = max(top, excess(at: index, over: slope)) }
    return top
  }

  @_noLocks
  private mutating func excess(at index: Int, over slope: Double) -> Double {
    stretches[index].lead - slope * stretches[index].time
  }

  /// Returns the frames between the two lines of this slope that enclose all readings from above
  /// and below.
  @_noLocks
  private mutating func height(_ slope: Double) -> Double {
    var (top, bottom) = (-Double.infinity, Double.infinity)
    for index in 0..<count {
      let earliest = excess(at: index, over: slope)
      let fall = stretches[index].leadToLatest - Float(slope) * stretches[index].secondsToLatest
      top = max(top, earliest)
      bottom = min(bottom, earliest + Double(fall))
    }
    return top - bottom
  }

  /// Returns the slope of the lowest strip: the minimum of a convex function, found by
  /// golden-section search.
  @_noLocks
  private mutating func lowestStrip(from first: Double, to last: Double) -> Double {
    var (low, high) = (first, last)
    for _ in 0..<24 {
      let part = (high - low) * 0.381966
      if height(low + part) < height(high - part) { high -= part } else { low += part }
    }
    return (low + high) / 2
  }

  /// Returns the slope furthest from `start`, at most `distance` away, whose strip is lower than
  /// `limit`, found by bisection.
  @_noLocks
  private mutating func slope(from start: Double, by distance: Double, below limit: Double)
    -> Double
  {
    var (inner, outer) = (start, start + distance)
    for _ in 0..<16 {
      let middle = (inner + outer) / 2
      if height(middle) < limit { inner = middle } else { outer = middle }
    }
    return inner
  }
}
