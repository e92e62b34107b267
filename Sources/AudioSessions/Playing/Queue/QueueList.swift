/// The items of a queue and how far it has come: changed from any thread, behind a lock.
struct QueueList: Sendable {
  /// All items, those that have been played as well.
  private(set) var items: [QueueItem] = []
  /// The item whose turn comes next.
  private(set) var next = 0
  /// Whether it begins anew at its end.
  var repeats = false
  /// Whether it begins in another order each time.
  var shuffles = false
  /// Counted up when another item than was expected comes next: what was opened ahead is dropped.
  private(set) var generation = 0
  /// Counted up when items come to other places in the list.
  private(set) var rearrangements = 0
  /// Whether anything came of this time through: a queue of nothing repeats nothing.
  var hasDelivered = false

  /// Whether another turn comes.
  var hasNext: Bool { next < items.count || (repeats && hasDelivered && !items.isEmpty) }

  /// The item that comes next, and its number.
  var coming: (item: QueueItem, index: Int)? {
    guard hasNext else { return nil }
    let index = next < items.count ? next : 0
    return (items[index], index)
  }

  /// Adds `item` behind all others.
  mutating func append(_ item: QueueItem) {
    if next == items.count { generation += 1 }
    items.append(item)
  }

  /// Takes out the item that comes next, or all that come.
  mutating func remove(all: Bool) -> [QueueItem] {
    guard next < items.count else { return [] }
    generation += 1
    rearrangements += 1
    let count = all ? items.count - next : 1
    let removed = Array(items[next..<next + count])
    items.removeSubrange(next..<next + count)
    return removed
  }

  /// The item that comes next has its turn.
  mutating func begin() {
    if next >= items.count {
      next = 0
      hasDelivered = false
    }
    next += 1
    // Before the first of the next round is opened ahead.
    if next == items.count, repeats, shuffles {
      items.shuffle()
      rearrangements += 1
    }
  }

  /// Goes to the item with the number `index`.
  mutating func skip(to index: Int) {
    next = min(max(0, index), items.count)
    generation += 1
  }
}
