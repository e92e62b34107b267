import RealtimeAudio

/// What somebody wants of a recording while it runs.
public enum RecordingWish: Sendable, Equatable {
  /// Begins the take, where it waits for that, with what came just before.
  case start
  /// Goes on in the next file.
  case split
  /// Marks the place.
  case mark(String)
}

/// Takes wishes to the disk thread. Any thread but the audio thread.
public final class RecordingRemote: Sendable {
  /// A wish and the timeline's frame at which it was made.
  struct Order: Sendable {
    let frame: Int
    let wish: RecordingWish
  }

  private let orders = Guarded<[Order]>([])

  init() {}

  /// Asks for `wish` at `frame` of the unit's timeline.
  public func ask(_ wish: RecordingWish, at frame: Int) {
    orders.withLock { $0.append(Order(frame: frame, wish: wish)) }
  }

  /// What was asked since the last time.
  func take() -> [Order] {
    orders.withLock { orders in
      defer { orders = [] }
      return orders
    }
  }
}
