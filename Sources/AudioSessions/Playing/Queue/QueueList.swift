import AudioBasics

/// The position of an item in a queue. A queue that repeats and shuffles has a new order in each
/// round.
struct QueuePosition: Hashable, Comparable, Sendable {
  /// The number of the round, incremented with each new order.
  var round: Int
  /// The index in the round, from 0.
  var index: Int

  static func < (one: QueuePosition, other: QueuePosition) -> Bool {
    (one.round, one.index) < (other.round, other.index)
  }

  /// Returns the position `count` items later in the same round, or earlier if `count` is negative.
  func moved(by count: Int) -> QueuePosition {
    QueuePosition(round: round, index: index + min(max(-index, count), Int.max - index))
  }
}

/// The items of a queue and its progress: changed from any thread, behind a lock.
struct QueueList: Sendable {
  /// An item and its position in the queue.
  typealias Entry = (item: QueueItem, position: QueuePosition)

  /// The known rounds: those that may still have frames to be played, the one that is read, and the
  /// one after it once its order is fixed. They contain all items, including those already played.
  private var rounds: [[QueueItem]] = [[]]
  private var firstRound = 0
  /// The position of the item whose turn is next; after the last item if the round is over.
  private(set) var next = QueuePosition(round: 0, index: 0)
  /// Whether the queue starts again at its end.
  var repeats = false
  /// Whether it has another order in each round.
  var shuffles = false
  /// The random number generator for the orders.
  var randomNumbers = SplitMix64(seed: .random(in: .min ... .max))
  /// A counter incremented when another item than expected comes next: the source opened ahead is
  /// dropped.
  private(set) var generation = 0
  /// A counter incremented when items are removed, so that others move to their positions.
  private(set) var removals = 0
  /// The number of turns that have begun.
  private var trackCount = 0
  /// The items of the latest turns, the oldest first.
  private var latestTurns: [QueueItem] = []
  /// Whether the current pass has delivered any frames: a queue without frames does not repeat.
  var hasDelivered = false

  /// The items in the order of the round that is read.
  var items: [QueueItem] { rounds[next.round - firstRound] }

  /// Whether the last item of the round has had its turn.
  var isRoundOver: Bool { next.index >= items.count }

  /// Whether another turn follows.
  var hasNext: Bool { !isRoundOver || (repeats && hasDelivered && !items.isEmpty) }

  /// The next item and its position.
  var nextEntry: Entry? {
    guard hasNext else { return nil }
    var position = next
    if isRoundOver {
      position = QueuePosition(round: isReordered ? next.round + 1 : next.round, index: 0)
    }
    return (rounds[position.round - firstRound][position.index], position)
  }

  /// Whether the round after the one that is read has a separate order.
  private var isReordered: Bool { shuffles && next.round - firstRound + 1 < rounds.count }

  /// Adds the items `new` after all others.
  mutating func append(_ new: [QueueItem]) {
    if isRoundOver { generation += 1 }
    for index in rounds.indices {
      // This avoids the copy of a list of 100,000 items.
      if rounds[index].isEmpty { rounds[index] = new } else { rounds[index] += new }
    }
  }

  /// Removes and returns the next item, or all items that follow.
  mutating func remove(all: Bool) -> [QueueItem] {
    guard !isRoundOver else { return [] }
    generation += 1
    removals += 1
    let round = next.round - firstRound
    rounds.removeSubrange((round + 1)...)
    let range = next.index..<(all ? items.count : next.index + 1)
    let removed = Array(rounds[round][range])
    rounds[round].removeSubrange(range)
    return removed
  }

  /// Removes all items, including those already played, so that no skip leads back to them. Items
  /// added from now on begin a new round, which distinguishes their positions from the earlier
  /// ones.
  mutating func forgetAll() {
    generation += 1
    removals += 1
    rounds.removeSubrange((next.round - firstRound + 1)...)
    if next.index == 0 {
      rounds[next.round - firstRound] = []
    } else {
      rounds.append([])
      next = QueuePosition(round: next.round + 1, index: 0)
    }
    hasDelivered = false
    latestTurns = []
  }

  /// Begins the turn of the next item and returns it. Returns nil, without any change, if there is
  /// none, or if another item was expected when `generation` was current.
  mutating func begin(_ generation: Int) -> Entry? {
    guard generation == self.generation, let entry = nextEntry else { return nil }
    if isRoundOver { hasDelivered = false }
    next = entry.position.moved(by: 1)
    // The next round is fixed before its first item is opened ahead.
    if isRoundOver, repeats, shuffles, !isReordered {
      rounds.append(items.shuffled(using: &randomNumbers))
    }
    return entry
  }

  /// Returns the number of a turn that begins.
  mutating func takeTrackNumber() -> Int {
    defer { trackCount += 1 }
    return trackCount
  }

  /// Records that the turn of `item` begins. Returns the item whose turn began `count` turns
  /// before, unless the list repeats; nil otherwise.
  mutating func noteTurn(of item: QueueItem, outdatedAfter count: Int) -> QueueItem? {
    latestTurns.append(item)
    guard latestTurns.count > count else { return nil }
    let outdated = latestTurns.removeFirst()
    return repeats ? nil : outdated
  }

  /// Moves to `position`, which may be in an earlier round. A source that is already open stays
  /// open if it comes next.
  mutating func skip(to position: QueuePosition) {
    let round = max(position.round, firstRound)
    let index = min(position.index, rounds[round - firstRound].count)
    guard next != QueuePosition(round: round, index: index) else { return }
    next = QueuePosition(round: round, index: index)
    generation += 1
    // The round has delivered frames before, so its end is not the end of an empty queue.
    hasDelivered = true
  }

  /// Removes the rounds before `round`, which have no more frames to be played.
  mutating func forgetRounds(before round: Int) {
    guard firstRound < min(round, next.round) else { return }
    rounds.removeFirst(min(round, next.round) - firstRound)
    firstRound = min(round, next.round)
  }
}
