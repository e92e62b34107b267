/// The position up to which a queue has delivered frames, and the joins of tracks around it.
///
/// Tracks that share a converter form a chain. When one of them ends and the next one begins, the
/// last frames of the earlier one are still in the converter, so the later one begins at a frame
/// that is delivered later.
struct QueueDelivery {
  /// The number of frames delivered.
  private(set) var frames = 0
  /// The frame at which the first track of the chain began.
  private(set) var chainStart = 0
  /// The end frames of tracks whose last frames are still in the converter of a later track.
  private var joins: [Int] = []

  /// Begins a track at `frame`. If `joinsEarlier`, it takes over the frames that the converter of
  /// the track before it holds back; that track ends there.
  mutating func begin(at frame: Int, joinsEarlier: Bool) {
    if joinsEarlier { joins.append(frame) }
    if joins.isEmpty { chainStart = frame }
  }

  /// Begins a chain with the next frame.
  mutating func beginChain() {
    forgetJoins()
    chainStart = frames
  }

  /// Forgets the joins ahead, because no more frames of their tracks are delivered.
  mutating func forgetJoins() { joins.removeAll() }

  /// Adds `count` delivered frames to the oldest span that is not closed, up to its end, and then
  /// to the next.
  mutating func add(_ count: Int, to spans: inout [TrackSpan]) {
    var rest = count
    while rest > 0 {
      let index = spans.count - 1 - joins.count
      guard spans.indices.contains(index) else { return }
      let part = min(rest, joins.first.map { $0 - frames } ?? rest)
      spans[index].frames += part
      frames += part
      rest -= part
      if joins.first == frames {
        joins.removeFirst()
        spans[index].complete()
      }
    }
  }
}
