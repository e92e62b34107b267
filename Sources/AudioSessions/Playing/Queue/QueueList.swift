import AudioBasics

/// The position of an item in a queue: one that repeats and shuffles has an order for each round.
struct QueuePosition: Hashable, Comparable, Sendable {
  /// Counted up with each new order.
  var round: Int
  /// From 0 on.
  var index: Int

  static func < (one: QueuePosition, other: QueuePosition) -> Bool {
    (one.round, one.index) < (other.round, other.index)
  }

  /// The place that number of items further on in its round, or back where that is below 0.
  func moved(by count: Int) -> QueuePosition {
    QueuePosition(round: round, index: index + min(max(-index, count), Int.max - index))
  }
}

/// The items of a queue and how far it has come: changed from any thread, behind a lock.
struct QueueList: Sendable {
  /// An item whose turn it is.
  typealias Entry = (item: QueueItem, place: QueuePosition)

  /// The rounds that are known: those of which something may still be heard, the one that is read,
  /// and the one behind it once its order is settled. All items, those that have been played as
  /// well.
  private var rounds: [[QueueItem]] = [[]]
  private var firstRound = 0
  /// The place of the item whose turn comes next; behind the last item where the round is over.
  private(set) var next = QueuePosition(round: 0, index: 0)
  /// Whether it begins anew at its end.
  var repeats = false
  /// Whether it begins in another order each time.
  var shuffles = false
  /// Where the orders come from.
  var randomNumbers = SplitMix64(seed: .random(in: .min ... .max))
  /// Counted up when another item than was expected comes next: what was opened ahead is dropped.
  private(set) var generation = 0
  /// Counted up when items are taken out, and others come to their places.
  private(set) var removals = 0
  /// Turns that have begun.
  private var trackCount = 0
  /// The items of the latest turns, the oldest first.
  private var latestTurns: [QueueItem] = []
  /// Whether anything came of this time through: a queue of nothing repeats nothing.
  var hasDelivered = false

  /// The items in the order of the round that is read.
  var items: [QueueItem] { rounds[next.round - firstRound] }

  /// Whether the last item of the round has had its turn.
  var isRoundOver: Bool { next.index >= items.count }

  /// Whether another turn comes.
  var hasNext: Bool { !isRoundOver || (repeats && hasDelivered && !items.isEmpty) }

  /// The item that comes next, and its place.
  var coming: Entry? {
    guard hasNext else { return nil }
    var place = next
    if isRoundOver {
      place = QueuePosition(round: isReordered ? next.round + 1 : next.round, index: 0)
    }
    return (rounds[place.round - firstRound][place.index], place)
  }

  /// Whether the round behind the one that is read has an order of its own.
  private var isReordered: Bool { shuffles && next.round - firstRound + 1 < rounds.count }

  /// Adds `new` items behind all others.
  mutating func append(_ new: [QueueItem]) {
    if isRoundOver { generation += 1 }
    for index in rounds.indices {
      // A list of a hundred thousand is not copied.
      if rounds[index].isEmpty { rounds[index] = new } else { rounds[index] += new }
    }
  }

  /// Takes out the item that comes next, or all that come.
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

  /// Forgets all items, those that were played as well: nothing leads back to them. What is added
  /// from now on begins a round of its own, so that places before it can be told apart.
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

  /// The item that comes next has its turn. Nil, and nothing has changed, where there is none, or
  /// where another one was expected when `generation` was current.
  mutating func begin(_ generation: Int) -> Entry? {
    guard generation == self.generation, let entry = coming else { return nil }
    if isRoundOver { hasDelivered = false }
    next = entry.place.moved(by: 1)
    // Before the first of the next round is opened ahead.
    if isRoundOver, repeats, shuffles, !isReordered {
      rounds.append(items.shuffled(using: &randomNumbers))
    }
    return entry
  }

  /// The number of a turn that begins.
  mutating func takeTrackNumber() -> Int {
    defer { trackCount += 1 }
    return trackCount
  }

  /// Notes that the turn of `item` begins. Answers with the one whose turn began `count` turns
  /// before, unless the list repeats.
  mutating func noteTurn(of item: QueueItem, outdatedAfter count: Int) -> QueueItem? {
    latestTurns.append(item)
    guard latestTurns.count > count else { return nil }
    let outdated = latestTurns.removeFirst()
    return repeats ? nil : outdated
  }

  /// Goes to `place`, which may lie in an earlier round. What is opened already stays so where it
  /// comes next.
  mutating func skip(to place: QueuePosition) {
    let round = max(place.round, firstRound)
    let index = min(place.index, rounds[round - firstRound].count)
    guard next != QueuePosition(round: round, index: index) else { return }
    next = QueuePosition(round: round, index: index)
    generation += 1
    // The end of a round from which it came already is no end.
    hasDelivered = true
  }

  /// Forgets the rounds before `round`: nothing of them is heard any more.
  mutating func forgetRounds(before round: Int) {
    guard firstRound < min(round, next.round) else { return }
    rounds.removeFirst(min(round, next.round) - firstRound)
    firstRound = min(round, next.round)
  }
}
