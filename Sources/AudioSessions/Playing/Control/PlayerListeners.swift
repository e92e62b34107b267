import RealtimeAudio

/// Who is told what happens to a player, and what was heard so far: the same in all sessions.
final class PlayerListeners: Sendable {
  /// Told what happens.
  typealias Handler = @Sendable (PlayerEvent) -> Void

  /// A handler of events. In a type of its own, because a bare function is wrapped anew at each access through
  /// a generic type (Swift 6.3.1), until the stack is too short to call it.
  private struct Listener: Sendable {
    let id: PlayerEventHandlerID
    let emit: Handler
  }

  private let handlers = MutexBox<(listeners: [Listener], count: Int)>(([], 0))
  private let lead = MutexBox(0.0)
  private let finished = MutexBox<[PlayedTrack]>([])

  /// Has `handler` told as well.
  func add(_ handler: @escaping Handler) -> PlayerEventHandlerID {
    handlers.withLock { handlers in
      handlers.count += 1
      let id = PlayerEventHandlerID(number: handlers.count)
      handlers.listeners.append(Listener(id: id, emit: handler))
      return id
    }
  }

  /// Has the handler `id` told no more.
  func remove(_ id: PlayerEventHandlerID) {
    handlers.withLock { $0.listeners.removeAll { $0.id == id } }
  }

  /// Tells of it, each handler in the order in which they came.
  func tell(_ event: PlayerEvent) {
    // Without the lock: a handler may take itself away.
    for listener in handlers.withLock({ $0.listeners }) { listener.emit(event) }
  }

  /// How long before a turn's end it ends soon; 0 for never.
  func endSoon(_ seconds: Double) { lead.withLock { $0 = max(0, seconds) } }

  /// The same in seconds, as last set.
  var endingSoonSeconds: Double { lead.withLock { $0 } }

  /// What was heard of each turn that is over.
  var playedTracks: [PlayedTrack] { finished.withLock { $0 } }

  /// A turn is over of which this was heard.
  func note(_ played: PlayedTrack) {
    finished.withLock {
      $0.append(played)
      // A short file may be played for years.
      if $0.count > 4096 { $0.removeFirst() }
    }
  }
}

/// Names a handler of a player's events.
public struct PlayerEventHandlerID: Hashable, Sendable {
  let number: Int
}
