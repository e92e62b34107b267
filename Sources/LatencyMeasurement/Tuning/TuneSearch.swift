/// Which setting to try next, and which is the best so far: a value that knows nothing of devices or
/// time.
///
/// A setting with more frames is held to be at least as stable as one with fewer. So the period is
/// bisected first, with a headroom of one period, because it decides most; then the next shorter
/// period gets the headroom it may have lacked; last the headroom is bisected down to a frame.
public struct TuneSearch: Sendable {
  private enum Stage {
    /// The shortest stable period lies in this range of the ladder, if any is.
    case period(Range<Int>)
    case shorterPeriod
    /// The smallest stable headroom lies in this range of halvings.
    case headroom(Range<Int>)
    case done
  }

  private let periods: [Int]
  private var stage: Stage
  private var asked: TuneSetting?

  /// The stable setting with the lowest latency so far.
  public private(set) var best: TuneSetting?

  /// A search among periods from `longest` down to `shortest`, each half of the one before.
  public init(longest: Int = 1024, shortest: Int = 16) {
    var periods: [Int] = []
    var period = longest
    while period >= max(1, shortest) {
      periods.append(period)
      period /= 2
    }
    self.periods = periods
    stage = periods.isEmpty ? .done : .period(0..<periods.count)
  }

  /// The setting to try now; nil when the search is over. `note` tells what came of it.
  public mutating func next() -> TuneSetting? {
    if let asked { return asked }
    asked = proposal()
    return asked
  }

  /// What came of the setting that `next` proposed.
  public mutating func note(isStable: Bool) {
    guard let setting = asked else { return }
    asked = nil
    if isStable, setting.latencyFrames < best?.latencyFrames ?? .max { best = setting }
    switch stage {
    case .period(let range):
      // Later rungs are shorter.
      let middle = range.lowerBound + range.count / 2
      let rest = isStable ? middle + 1..<range.upperBound : range.lowerBound..<middle
      stage = rest.isEmpty ? (best == nil ? .done : .shorterPeriod) : .period(rest)
    case .shorterPeriod:
      stage = headroomStage()
    case .headroom(let range):
      let middle = range.lowerBound + range.count / 2
      let rest = isStable ? middle + 1..<range.upperBound : range.lowerBound..<middle
      stage = rest.isEmpty ? .done : .headroom(rest)
    case .done: break
    }
  }

  private mutating func proposal() -> TuneSetting? {
    if case .shorterPeriod = stage {
      if let best, best.periodFrames / 2 >= periods.last ?? .max {
        return TuneSetting(
          periodFrames: best.periodFrames / 2, headroomFrames: best.headroomFrames)
      }
      stage = headroomStage()
    }
    switch stage {
    case .period(let range):
      let period = periods[range.lowerBound + range.count / 2]
      return TuneSetting(periodFrames: period, headroomFrames: period)
    case .headroom(let range):
      let halvings = range.lowerBound + range.count / 2
      return TuneSetting(
        periodFrames: headroomBase.periodFrames,
        headroomFrames: max(1, headroomBase.headroomFrames >> halvings))
    case .shorterPeriod, .done: return nil
    }
  }

  private var headroomBase = TuneSetting(periodFrames: 0, headroomFrames: 0)

  private mutating func headroomStage() -> Stage {
    guard let best, best.headroomFrames > 1 else { return .done }
    headroomBase = best
    let halvings = Int.bitWidth - 1 - best.headroomFrames.leadingZeroBitCount
    return .headroom(1..<halvings + 1)
  }
}
