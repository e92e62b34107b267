// Audio thread.

/// The line of a clock through its readings, frames over time: by the earliest of them only, or by
/// the earliest and the latest.
///
/// A reading is late by chance and never early, so no reading lies above the clock's own line. S.
/// B. Moon, P. Skelly and D. Towsley, "Estimation and Removal of Clock Skew from Network Delay
/// Measurements" (IEEE INFOCOM 1999), take the line above all readings that is nearest to them: of
/// the upper convex hull's edges the one at the middle of the readings. Of n readings that are late
/// by 0 to L its error falls as L / n, where that of a mean falls as L / √n.
///
/// Where all lateness up to a largest one is equally likely, as of a device that is read at uneven
/// times, the latest readings tell as much as the earliest: all lie in a strip of the clock's slope
/// and of height L. The likelihood of a slope falls as the n-th power of the height of its strip
/// rises. The middle of the slopes whose strips are higher than the lowest by at most 3 / n of it
/// has two thirds of the error of the hull's edge (simulated, n = 350), and no more than the mean
/// of that likelihood, Pitman's estimator.
///
/// It is given the readings of one stretch of time after the other and keeps the earliest and the
/// latest of 64 stretches: the work is bounded, and is done once a stretch. What reads the
/// stretches is `mutating`, too: that works where they lie, while each call of what is not would
/// first copy 2.5 KB.
struct ArrivalHull: BitwiseCopyable, Sendable {
  /// Summary of a stretch of readings. Times are in seconds; leads are frames by which the clock is
  /// ahead of its nominal rate.
  struct Stretch: BitwiseCopyable {
    /// The earliest reading: seconds since the first reading of all.
    var time = 0.0
    var lead = 0.0
    /// The latest reading, from the earliest one on.
    var secondsToLatest: Float = 0
    var leadToLatest: Float = 0
    /// The number of readings, frames by which they are later than the earliest as a mean, and the
    /// variance of these.
    var count: Float = 0
    var lateness: Float = 0
    var variance: Float = 0

    @_noLocks
    init() {}
  }

  private static var capacity: Int { @_noLocks get { 64 } }
  /// Readings that are enough to tell whether a line fits them.
  private static var leastForFit: Int { @_noLocks get { 8 } }
  /// Positions are whole frames.
  private static let roundingVariance = 1.0 / 12
  /// As a mean, a reading lies so far below its line for that alone.
  private static let roundingFrames = 0.75
  /// How many times the changes of distances from a line the distances are not by chance.
  private static let unlikelyRatio = 3.0
  /// Of how many variances the square of an error is not by chance: five standard deviations.
  private static let unlikely = 25.0

  private let nominalFramesPerSecond: Double
  private var first = ClockReading(frames: 0, nanoseconds: 0)
  /// The oldest one first.
  private(set) var stretches = InlineArray<64, Stretch>(repeating: Stretch())
  /// How many of them there are.
  private(set) var count = 0

  /// No readings yet of a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    nominalFramesPerSecond = framesPerSecond
  }

  /// Forgets all readings.
  @_noLocks
  mutating func clear() { count = 0 }

  /// Takes in the readings of the stretch that followed the last one.
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

  /// Forgets readings that are older than a time whose cube is `cubicSeconds`.
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

  /// Forgets the `number` oldest stretches.
  @_noLocks
  mutating func removeOldest(_ number: Int) {
    for index in number..<count { stretches[index &- number] = stretches[index] }
    count &-= number
  }

  /// Forgets the older half of the readings while they tell another rate than the newest quarter.
  /// Returns whether it forgot any.
  @_noLocks
  mutating func forgetAnotherRate() -> Bool {
    var hasForgotten = false
    while count >= Self.leastForFit, isNewestQuarterOff || isFarBelow {
      removeOldest(count / 2)
      hasForgotten = true
    }
    return hasForgotten
  }

  /// Whether the earliest readings lie further below the hull's edge than by chance. Of independent
  /// errors these distances change from one to the next by about as much as they are (J. von
  /// Neumann's ratio, 1941); those that another rate makes change evenly.
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

  /// Whether the mean of the newest quarter of the earliest readings lies further off the
  /// least-squares line through the others than by chance, by the variance of such a prediction.
  /// How the readings are late does not matter.
  private var isNewestQuarterOff: Bool {
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
      // A variance of few values is itself uncertain.
      return off * off > Self.unlikely * (1 + 12 / freedom) * variance * spread
    }
  }

  /// The mean of some of the earliest readings.
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

  /// The time of the oldest reading.
  var oldestNanoseconds: UInt64 {
    @_noLocks mutating get { first.nanoseconds &+ UInt64(clamping: stretches[0].time * 1e9) }
  }

  /// The slope of the hull's edge at the middle of the readings.
  private var edgeSlope: Double {
    @_noLocks mutating get {
      let middle = (stretches[0].time + stretches[count &- 1].time) / 2
      // Where the hull comes to from before the middle, the steepest way on.
      var start = 0
      var end = steepest(from: 0)
      while stretches[end].time < middle {
        start = end
        end = steepest(from: start)
      }
      return slope(from: start, to: end)
    }
  }

  /// Seconds from the oldest reading to the newest; nil of fewer than three.
  var span: Double? {
    @_noLocks mutating get { count > 2 ? stretches[count &- 1].time - stretches[0].time : nil }
  }

  /// Frames a second of the line through the readings, and the part of the hull's error that it
  /// has.
  var rate: (framesPerSecond: Double, errorPart: Double) {
    @_noLocks mutating get {
      if let slope = stripSlope { return (nominalFramesPerSecond + slope, 2.0 / 3) }
      return (nominalFramesPerSecond + edgeSlope, 1)
    }
  }

  /// Where the lowest line of `framesPerSecond` that no reading lies above is at a time.
  @_noLocks
  mutating func frames(at nanoseconds: UInt64, framesPerSecond: Double) -> Double {
    let time = seconds(at: nanoseconds)
    let slope = framesPerSecond - nominalFramesPerSecond
    return Double(first.frames) + nominalFramesPerSecond * time + slope * time + top(slope)
  }

  /// The vertex that follows one which is not the last.
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

/// The strip that holds all readings.
extension ArrivalHull {
  /// A strip is higher than the lowest one by no more than this, over the number of readings, where
  /// its slope is likely.
  private static let likelyRise = 3.0
  /// By how many standard deviations the mean and the variance of evenly distributed values may
  /// differ from what they are as a mean.
  private static let likelyDeviations = 2.5

  /// The middle of the likely slopes, where lateness is evenly distributed.
  private var stripSlope: Double? {
    @_noLocks mutating get {
      var readings = 0.0
      for index in 0..<count { readings += Double(stretches[index].count) }
      guard let span, span > 0, readings > 0 else { return nil }
      let start = edgeSlope
      // Far more than the edge is wrong by.
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

  /// Whether the readings lie in a strip as evenly distributed values do: their mean at a half of
  /// its height and their variance a twelfth of its square, which deviate by √(1/12) and √(1/180)
  /// of that over √n.
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

  /// How far the highest line of a slope through a reading is above the nominal one at the first
  /// reading.
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

  /// Frames between the lines of a slope above and below all readings.
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

  /// The slope of the lowest strip: the minimum of a convex function, by golden-section search.
  @_noLocks
  private mutating func lowestStrip(from first: Double, to last: Double) -> Double {
    var (low, high) = (first, last)
    for _ in 0..<24 {
      let part = (high - low) * 0.381966
      if height(low + part) < height(high - part) { high -= part } else { low += part }
    }
    return (low + high) / 2
  }

  /// The slope furthest from `start`, by at most `distance`, whose strip is below `limit`, by
  /// bisection.
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
