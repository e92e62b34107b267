/// A set of bytes of a file: ranges in order that neither touch nor overlap.
struct ByteRanges: Equatable {
  private(set) var ranges: [Range<Int>] = []

  /// How many bytes are in the set.
  private(set) var byteCount = 0

  /// Behind the last of them.
  var end: Int { ranges.last?.upperBound ?? 0 }

  /// The first byte from `offset` on that is not in the set.
  func firstGap(from offset: Int) -> Int {
    let index = index(endingBehind: offset)
    guard index < ranges.count, ranges[index].contains(offset) else { return offset }
    return ranges[index].upperBound
  }

  /// Adds `range` and returns how many of its bytes are new.
  @discardableResult mutating func insert(_ range: Range<Int>) -> Int {
    guard !range.isEmpty else { return 0 }
    // Ranges that touch become one.
    let first = index(endingBehind: range.lowerBound - 1)
    var last = first
    var whole = range
    var known = 0
    while last < ranges.count, ranges[last].lowerBound <= range.upperBound {
      known += ranges[last].count
      whole =
        min(
          whole.lowerBound, ranges[last].lowerBound)..<max(
          whole.upperBound, ranges[last].upperBound)
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: CollectionOfOne(whole))
    byteCount += whole.count - known
    return whole.count - known
  }

  /// Takes `range` out.
  mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    let first = index(endingBehind: range.lowerBound)
    var last = first
    var rest: [Range<Int>] = []
    while last < ranges.count, ranges[last].lowerBound < range.upperBound {
      let found = ranges[last]
      byteCount -= found.clamped(to: range).count
      if found.lowerBound < range.lowerBound { rest.append(found.lowerBound..<range.lowerBound) }
      if found.upperBound > range.upperBound { rest.append(range.upperBound..<found.upperBound) }
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: rest)
  }

  /// The first range that ends behind `offset`.
  private func index(endingBehind offset: Int) -> Int {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound > offset { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
