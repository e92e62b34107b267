/// What is to be done at a frame of the timeline.
enum TakePoint: Equatable {
  /// What somebody wants.
  case wish(RecordingWish)
  /// A gap of so many frames begins.
  case gap(Int)
}

/// What is to be done at which frames, in order.
struct TakePoints {
  private var points: [(frame: Int, point: TakePoint)] = []

  /// `point` is due at `frame`, or as soon as it can be.
  mutating func add(_ point: TakePoint, at frame: Int) {
    let index = points.firstIndex { $0.frame > frame } ?? points.endIndex
    points.insert((frame, point), at: index)
  }

  /// The next one that is due at `frame` or was before.
  mutating func take(upTo frame: Int) -> (frame: Int, point: TakePoint)? {
    guard let first = points.first, first.frame <= frame else { return nil }
    return points.removeFirst()
  }

  /// The frame behind `frame` at which the next one is due; `Int.max` for none.
  func nextFrame(after frame: Int) -> Int {
    points.first { $0.frame > frame }?.frame ?? .max
  }
}
