import AudioBasics
import AudioDevices

/// The search for the stable setting with the lowest latency: the next one to try, and the best so
/// far. It is a value, independent of devices and time.
///
/// A setting with more frames is assumed to be at least as stable as one with fewer. The period has
/// the largest effect, so it is bisected first, with a headroom of one period. It is then halved
/// for as long as it is stable with the headroom found. Finally the headroom is bisected, to a
/// sixteenth, down to one frame.
public struct TuneSearch: Sendable {
  private enum Stage {
    /// The shortest stable period is among the periods with these indices, if any is.
    case period(Range<Int>)
    case shorterPeriod
    /// The smallest stable headroom is one of these sixteenths of the headroom of the setting.
    case headroom(Range<Int>, of: TuneSetting)
    case done
  }

  private let periods: [Int]
  private var stage: Stage
  private var pending: TuneSetting?
  private var refused: [TuneSetting] = []

  /// The stable setting with the lowest latency so far.
  public private(set) var best: TuneSetting?

  /// Creates a search among periods from `longest`, at most the longest that may be requested, down
  /// to `shortest`, each half of the previous one. Both are in frames.
  public init(longest: Int = 1024, shortest: Int = 16) {
    var periods: [Int] = []
    var period = min(longest, DuplexRequest.periodFrameRange.upperBound)
    while period >= max(1, shortest) || periods.isEmpty {
      periods.append(max(1, period))
      period /= 2
    }
    self.periods = periods
    stage = .period(0..<periods.count)
  }

  /// Returns the setting to try now, or nil if the search is over. `note` records the result.
  public mutating func next() -> TuneSetting? {
    if let pending { return pending }
    while let setting = proposal() {
      pending = setting
      guard isRefused(setting) else { return setting }
      note(isStable: false)
    }
    return nil
  }

  /// The approximate number of settings still to be tried.
  public var remainingTrials: Int {
    func halvings(_ count: Int) -> Int { Int.bitWidth - count.leadingZeroBitCount }
    return switch stage {
    case .period(let range): halvings(range.count) + 1 + halvings(15)
    case .shorterPeriod: 1 + halvings(15)
    case .headroom(let range, _): halvings(range.count)
    case .done: 0
    }
  }

  /// Records the result of the setting that `next` returned.
  public mutating func note(isStable: Bool) {
    guard let setting = pending else { return }
    pending = nil
    if isStable, setting.latencyFrames < best?.latencyFrames ?? .max { best = setting }
    if !isStable, !isRefused(setting) { refuse(setting) }
    switch stage {
    case .period(let range):
      // Periods with larger indices are shorter.
      let middle = range.lowerBound + range.count / 2
      let rest = isStable ? middle + 1..<range.upperBound : range.lowerBound..<middle
      stage = !rest.isEmpty ? .period(rest) : best == nil ? .done : .shorterPeriod
    case .shorterPeriod:
      if !isStable { stage = headroomStage() }
    case .headroom(let range, let base):
      let middle = range.lowerBound + range.count / 2
      let rest = isStable ? range.lowerBound..<middle : middle + 1..<range.upperBound
      if !rest.isEmpty {
        stage = .headroom(rest, of: base)
      } else {
        // The first sixteenth can be divided further.
        stage = isStable && middle == 1 ? headroomStage() : .done
      }
    case .done: break
    }
  }

  /// Records that a setting failed. No setting with the same or smaller numbers of frames is tried
  /// again.
  public mutating func refuse(_ setting: TuneSetting) {
    refused.append(setting)
  }

  /// Returns the next safer setting for one that failed a longer trial: more headroom up to a
  /// period, then a longer period. Returns nil above the longest period. A period or a headroom
  /// below one frame counts as one frame.
  public func above(_ setting: TuneSetting) -> TuneSetting? {
    // Of a period or a headroom below one frame, the double would not be larger.
    var next = TuneSetting(
      periodFrames: max(1, setting.periodFrames), headroomFrames: max(1, setting.headroomFrames))
    guard next.periodFrames <= periods[0] else { return nil }
    repeat {
      if next.headroomFrames < next.periodFrames {
        next.headroomFrames = min(next.periodFrames, 2 * next.headroomFrames)
      } else {
        guard next.periodFrames <= periods[0] / 2 else { return nil }
        next = TuneSetting(
          periodFrames: 2 * next.periodFrames,
          headroomFrames: max(next.periodFrames, next.headroomFrames))
      }
    } while isRefused(next)
    return next
  }

  private func isRefused(_ setting: TuneSetting) -> Bool {
    refused.contains {
      setting.periodFrames <= $0.periodFrames && setting.headroomFrames <= $0.headroomFrames
    }
  }

  private mutating func proposal() -> TuneSetting? {
    if case .shorterPeriod = stage {
      if let best, best.periodFrames / 2 >= periods[periods.count - 1] {
        return TuneSetting(
          periodFrames: best.periodFrames / 2, headroomFrames: best.headroomFrames)
      }
      stage = headroomStage()
    }
    switch stage {
    case .period(let range):
      let period = periods[range.lowerBound + range.count / 2]
      return TuneSetting(periodFrames: period, headroomFrames: period)
    case .headroom(let range, let base):
      let part = range.lowerBound + range.count / 2
      return TuneSetting(
        periodFrames: base.periodFrames,
        headroomFrames: base.headroomFrames * part / min(16, base.headroomFrames))
    case .shorterPeriod, .done: return nil
    }
  }

  private func headroomStage() -> Stage {
    guard let best, best.headroomFrames > 1 else { return .done }
    return .headroom(1..<min(16, best.headroomFrames), of: best)
  }
}

/// A period and a headroom, in frames.
public struct TuneSetting: Sendable, Equatable {
  /// The number of frames per callback.
  public var periodFrames: Int
  /// The number of frames queued ahead of the output when a callback runs.
  public var headroomFrames: Int

  /// Creates a setting of these two.
  public init(periodFrames: Int, headroomFrames: Int) {
    self.periodFrames = periodFrames
    self.headroomFrames = headroomFrames
  }

  /// The frames from input to output.
  public var latencyFrames: Int { periodFrames.clampedSum(headroomFrames) }
}
