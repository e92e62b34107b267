/// Where every so-many-th block lies, as far as was read: at most 1024 places, however long it is.
struct MPEGIndex {
  private static let room = 1024
  private var offsets: [Int] = []
  /// Blocks from place to place; doubles whenever the room is full.
  private var step = 1

  /// The index of blocks of which the first lies at `start`.
  init(start: Int) {
    offsets.reserveCapacity(Self.room)
    offsets.append(start)
  }

  /// Remembers that `block` lies at `offset`, where it is the next to be remembered.
  mutating func note(_ block: Int, at offset: Int) {
    guard block == offsets.count * step else { return }
    if offsets.count == Self.room {
      for index in 0..<Self.room / 2 { offsets[index] = offsets[2 * index] }
      offsets.removeLast(Self.room / 2)
      step *= 2
      guard block == offsets.count * step else { return }
    }
    offsets.append(offset)
  }

  /// The last place remembered at `block` or before.
  func place(before block: Int) -> (block: Int, offset: Int) {
    let index = max(0, min(block / step, offsets.count - 1))
    return (index * step, offsets[index])
  }
}
