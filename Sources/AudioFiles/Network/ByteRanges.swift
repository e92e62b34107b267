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

/// What the network thread is to do.
enum FetchDecision: Equatable {
  /// Carry the transfer on.
  case proceed
  /// So much is there that the transfer can pause.
  case pause
  /// Begin a transfer at this byte, instead of any that runs.
  case fetch(Int)
  /// All is there, or no more can be had: end the transfer.
  case rest
}

/// Where the reader and the transfer are, of which an order follows.
struct FetchSituation {
  var bounds = RemoteFileBounds()
  /// The byte the reader wants next.
  var reader = 0
  /// Behind the last byte of the file, where that is known.
  var end: Int?
  /// Whether the server begins where it is told to.
  var hasRanges = false
  /// Whether the first response came.
  var isOpen = false
  /// The byte the transfer brings next; nil where none runs.
  var transfer: Int?
  var isPaused = false

  /// What to do, with `present` here.
  func order(_ present: ByteRanges) -> FetchDecision {
    guard isOpen else { return transfer == nil ? .fetch(0) : .proceed }
    let missing = present.firstGap(from: reader)
    if let end, missing >= end { return .rest }
    // Half of it is read before a transfer that paused goes on: not one packet at a time.
    let isResting = isPaused || transfer == nil
    let enough = isResting ? bounds.readAhead / 2 : bounds.readAhead
    guard let transfer else {
      if missing - reader >= max(1, enough) { return .pause }
      return .fetch(hasRanges ? missing : present.end)
    }
    if hasRanges && !(transfer...transfer + bounds.gap).contains(missing) {
      return missing - reader >= max(1, enough) ? .pause : .fetch(missing)
    }
    return missing - reader >= max(1, enough) ? .pause : .proceed
  }
}

/// How much of a file the next request asks for: little where it is not known yet whether more is
/// wanted, because what is on its way through the buffers of servers and kernels cannot be called
/// back; twice as much each time the reader goes on.
struct RequestSpan {
  private let first: Int
  private var count = 0
  private var end: Int?

  /// `first` bytes at the beginning, and after each jump.
  init(first: Int) {
    self.first = max(first, 1)
  }

  /// What to ask for from `offset` on: at most `bound` bytes, fewer at first.
  mutating func next(from offset: Int, bound: Int) -> Range<Int> {
    count = offset == end ? min(count * 2, max(bound, first)) : first
    end = offset + count
    return offset..<offset + count
  }
}
