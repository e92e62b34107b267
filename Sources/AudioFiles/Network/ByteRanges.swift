/// A set of byte offsets in a file.
struct ByteRanges: Equatable {
  private var bytes = RangeSet<Int>()

  /// The number of bytes in the set.
  private(set) var byteCount = 0

  /// The ranges of the set in ascending order. They neither touch nor overlap.
  var ranges: RangeSet<Int>.Ranges { bytes.ranges }

  /// The offset after the last byte in the set.
  var end: Int { ranges.last?.upperBound ?? 0 }

  /// Returns the first offset from `offset` on that is not in the set.
  func firstGap(from offset: Int) -> Int {
    ranges.first { $0.contains(offset) }?.upperBound ?? offset
  }

  /// Adds `range` and returns the number of bytes that were not in the set before.
  @discardableResult mutating func insert(_ range: Range<Int>) -> Int {
    let new = range.count - known(range)
    bytes.insert(contentsOf: range)
    byteCount += new
    return new
  }

  /// Removes `range`.
  mutating func remove(_ range: Range<Int>) {
    byteCount -= known(range)
    bytes.remove(contentsOf: range)
  }

  /// Returns the number of bytes of `range` that are in the set.
  private func known(_ range: Range<Int>) -> Int {
    ranges.reduce(0) { $0 + $1.clamped(to: range).count }
  }
}
