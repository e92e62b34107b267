// Audio thread.

/// Change of a clock's rate in the time that the newest readings cover.
enum RateTrend: BitwiseCopyable, Sendable {
  /// The rate stayed the same, as far as the readings show.
  case constant
  /// The rate changed suddenly: the last `newest` stretches have the new rate.
  case step(newest: Int)
  /// The rate keeps changing.
  case changing
}

extension ArrivalHull {
  /// The likelihood ratio above which a change counts. The limit is far higher if few blocks show
  /// the change: the lateness of readings has no upper limit, so a sum of few of them is far off
  /// more often than a normal variable. With 36, a clock of constant rate causes no alarm in 32
  /// hours (simulated, lateness of 0 to 1 ms).
  private static let alarm = 36.0
  /// The same if a change is suspected already, and the fewest stretches that may confirm it.
  private static let confirmation = 12.0
  private static let stretchesForConfirmation = 8
  /// The largest number of stretches in a block.
  private static let largestBlock = 5
  /// For n blocks, the limit of the likelihood ratio is higher by the factor 1 + 6 / n.
  private static let fewBlocks = 6.0
  /// The likelihood ratio by which a broken line must fit better than a parabola.
  private static let parabolaRatio = 16.0

  /// Returns the change of the rate over the stretches, which must be about equally long, or nil if
  /// they are too few. If a change `isSuspected` already, less evidence is enough, and a curve
  /// before the newest readings alone is `.changing`.
  ///
  /// This is the generalized likelihood ratio test for a change at an unknown time (A. S. Willsky,
  /// H. L. Jones, "A generalized likelihood ratio approach to the detection and estimation of jumps
  /// in linear systems", IEEE Transactions on Automatic Control 21, 1976), of a broken line against
  /// a straight one. As its normal errors it uses those of the earliest readings of blocks of
  /// stretches instead of those of all readings. Readings are late by chance and never early, so
  /// the error of the earliest falls as the length of the block, not as its square root. Each block
  /// length is tried, since a large change shows soon and a small one late.
  ///
  /// A broken line must also fit better than a line with a jump, as that of a device that stalled
  /// for a moment, and better than a parabola, as that of a clock whose rate keeps changing.
  @_noLocks
  mutating func rateTrend(isSuspected: Bool) -> RateTrend? {
    let unlikely = isSuspected ? Self.confirmation : Self.alarm
    let newest = isSuspected ? Self.stretchesForConfirmation : 0
    var trend: RateTrend?
    var largest = 0.0
    var minimumVariance = 0.0
    var isChanging = false
    for size in 1...Self.largestBlock {
      let blocks = BlockLeads(stretches, count: count, size: size)
      guard blocks.isEnough else { break }
      if size == 1 {
        trend = .constant
        minimumVariance = blocks.minimumVariance
      }
      if isSuspected, !isChanging {
        isChanging = blocks.isChanging(unlikely: unlikely, minimumVariance: minimumVariance)
      }
      var old = LineFit()
      for index in 0..<blocks.count {
        let number = blocks.count &- index
        if index >= BlockLeads.fewestOld, number >= BlockLeads.fewestNew,
          number <= BlockLeads.maximumNew, number &* size >= newest,
          let line = blocks.brokenLine(after: index, old, minimumVariance),
          line.likelihood > largest,
          line.likelihood > unlikely * (1 + Self.fewBlocks / Double(number))
        {
          largest = line.likelihood
          let ratio = Self.parabolaRatio / Double(blocks.count &- 3)
          let isCurve = line.squares * (1 + ratio) >= blocks.squaresAroundParabola(blocks.count)
          trend = isCurve ? .changing : .step(newest: number &* size)
        }
        old.add(blocks[index])
      }
    }
    return largest == 0 && isChanging ? .changing : trend
  }
}

/// The earliest reading of each of the last blocks of stretches.
private struct BlockLeads: BitwiseCopyable {
  /// A reading: its time in seconds relative to the newest stretch, at most 0, and its lead in
  /// frames.
  typealias Point = (time: Double, lead: Double)

  /// The largest number of blocks. It limits the time searched for the old line to a few times the
  /// duration of a possible new one.
  private static var capacity: Int { @_noLocks get { 24 } }
  /// The fewest blocks before a change, and the fewest and the most blocks after it.
  static var fewestOld: Int { @_noLocks get { 6 } }
  static var fewestNew: Int { @_noLocks get { 3 } }
  static var maximumNew: Int { @_noLocks get { 8 } }
  /// If the variance of the readings is below this limit, in square frames, they are not late by
  /// chance. Their errors then come from the phase between the clock's steps and the reading times,
  /// which change by whole frames, with the variance of rounding.
  private static let exactVariance = 0.01
  private static let roundingVariance = 1.0 / 12
  /// The least variance of other readings: a fiftieth of a frame, squared.
  private static let finestVariance = 0.0004

  private var points = InlineArray<24, Point>(repeating: (0, 0))
  private(set) var count: Int

  /// Collects the last blocks of `size` stretches each. The common rate of all stretches is
  /// subtracted.
  @_noLocks
  init(_ stretches: borrowing InlineArray<64, ArrivalHull.Stretch>, count number: Int, size: Int) {
    count = min(Self.capacity, number / size)
    guard count > 1 else { return }
    let (first, last) = (stretches[0], stretches[number &- 1])
    let slope = (last.lead - first.lead) / (last.time - first.time)
    var index = number &- count &* size
    for block in 0..<count {
      var earliest: Point = (0, -.infinity)
      for _ in 0..<size {
        let time = stretches[index].time - last.time
        let lead = stretches[index].lead - last.lead - slope * time
        if lead > earliest.lead { earliest = (time, lead) }
        index &+= 1
      }
      points[block] = earliest
    }
  }

  /// Whether there are enough blocks to detect a change.
  var isEnough: Bool { @_noLocks get { count > Self.fewestOld &+ Self.fewestNew } }

  subscript(index: Int) -> Point { @_noLocks get { points[index] } }

  /// The least variance that a reading may have, derived from the readings before a possible
  /// change.
  var minimumVariance: Double {
    @_noLocks get {
      let old = line(max(Self.fewestOld, count &- Self.maximumNew))
      let isExact = old.squares / (old.count - 2) < Self.exactVariance
      return isExact ? Self.roundingVariance : Self.finestVariance
    }
  }

  /// Fits a broken line: the line through `old`, the points before the one at `start`, and a line
  /// from the last of them through the other points. The errors of a point have a variance of at
  /// least `minimumVariance`. Returns the sum of the squared errors and the likelihood ratio of
  /// this line and the old one alone, or nil if a jump explains the other points better.
  @_noLocks
  func brokenLine(after start: Int, _ old: LineFit, _ minimumVariance: Double)
    -> (likelihood: Double, squares: Double)?
  {
    let corner = points[start &- 1].time
    // The errors of the new points from the old line, whose slope and position are uncertain as
    // well.
    var (products, times, squares, sum) = (0.0, 0.0, 0.0, 0.0)
    var (timeSum, timeProducts) = (0.0, 0.0)
    var jump = 0.0
    for index in stride(from: count &- 1, through: start, by: -1) {
      let error = old.error(of: points[index])
      let time = points[index].time - corner
      products += time * error
      times += time * time
      squares += error * error
      sum += error
      timeSum += time
      timeProducts += time * (points[index].time - old.meanTime)
      jump = max(jump, sum * sum / Double(count &- index))
    }
    let explained = products * products / times
    guard explained > jump else { return nil }
    let rest = squares - explained
    let variance = max(
      old.squares / (old.count - 2) + minimumVariance, rest / Double(count &- start &- 1))
    let uncertain =
      times + timeSum * timeSum / old.count + timeProducts * timeProducts / old.timeSquares
    // A variance estimated from few values is itself uncertain.
    let likelihood = products * products / (variance * uncertain * (1 + 12 / (old.count - 2)))
    return (likelihood, old.squares + rest)
  }

  /// Returns whether the points before a possible change fit a parabola better than a line.
  @_noLocks
  func isChanging(unlikely: Double, minimumVariance: Double) -> Bool {
    let old = count &- Self.maximumNew
    guard old > Self.fewestOld else { return false }
    let squares = squaresAroundParabola(old)
    let variance = squares / Double(old &- 3) + minimumVariance
    return line(old).squares - squares > unlikely * variance
  }

  /// Returns the straight line through the first `number` points.
  @_noLocks
  private func line(_ number: Int) -> LineFit {
    var line = LineFit()
    for index in 0..<number { line.add(points[index]) }
    return line
  }

  /// Returns the sum of the squared distances of the first `number` points from a parabola fitted
  /// by least squares. Its terms are time and the deviation of the square of time from a line.
  @_noLocks
  func squaresAroundParabola(_ number: Int) -> Double {
    let line = line(number)
    var cubic = 0.0
    var fourth = 0.0
    for index in 0..<number {
      let time = points[index].time - line.meanTime
      cubic += time * time * time
      fourth += time * time * time * time
    }
    let tilt = cubic / line.timeSquares
    var curve = 0.0
    for index in 0..<number {
      let time = points[index].time - line.meanTime
      curve += (time * time - tilt * time) * (points[index].lead - line.meanLead)
    }
    let weight = fourth - line.timeSquares * line.timeSquares / line.count - cubic * tilt
    return line.squares - curve * curve / weight
  }
}

/// A straight line fitted to points by least squares.
private struct LineFit: BitwiseCopyable {
  private(set) var count = 0.0
  private var times = 0.0
  private var leads = 0.0
  private var squaresOfTimes = 0.0
  private var squaresOfLeads = 0.0
  private var products = 0.0

  @_noLocks
  init() {}

  @_noLocks
  mutating func add(_ point: BlockLeads.Point) {
    count += 1
    times += point.time
    leads += point.lead
    squaresOfTimes += point.time * point.time
    squaresOfLeads += point.lead * point.lead
    products += point.time * point.lead
  }

  var meanTime: Double { @_noLocks get { times / count } }
  var meanLead: Double { @_noLocks get { leads / count } }
  /// The sum of the squared deviations of the times from their mean.
  var timeSquares: Double { @_noLocks get { squaresOfTimes - times * times / count } }
  private var slope: Double { @_noLocks get { (products - times * leads / count) / timeSquares } }

  /// The sum of the squared errors of the points.
  var squares: Double {
    @_noLocks get {
      max(0, squaresOfLeads - leads * leads / count - slope * (products - times * leads / count))
    }
  }

  /// Returns the distance in frames by which a point is above the line.
  @_noLocks
  func error(of point: BlockLeads.Point) -> Double {
    point.lead - meanLead - slope * (point.time - meanTime)
  }
}
