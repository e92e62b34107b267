/// Stretches of the timeline that were lost, until it is known where in the recording they lie.
struct GapList {
  private var ranges: [Range<Int>] = []

  /// Frames that were lost: those of `range` of the timeline.
  mutating func add(_ range: Range<Int>) {
    if !range.isEmpty { ranges.append(range) }
  }

  /// What of them lies within `kept`. Asked for one kept stretch after the other.
  mutating func overlap(with kept: Range<Int>) -> [Range<Int>] {
    while let first = ranges.first, first.upperBound <= kept.lowerBound { ranges.removeFirst() }
    return ranges.prefix { $0.lowerBound < kept.upperBound }.map { $0.clamped(to: kept) }
  }
}
