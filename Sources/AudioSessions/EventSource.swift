import RealtimeAudio

/// Stands for a handler that was added; `cancel` removes it.
public struct EventSubscription: Sendable {
  private let remove: @Sendable () -> Void

  init(_ remove: @escaping @Sendable () -> Void) {
    self.remove = remove
  }

  /// Has the handler told nothing that happens from now on; one call may still be under way. Any
  /// thread.
  public func cancel() { remove() }
}

/// Hands values to any number of handlers and streams, in the order in which they come.
package final class EventSource<Event: Sendable>: Sendable {
  private struct Listeners {
    var handlers: [Int: @Sendable (Event) -> Void] = [:]
    var streams: [Int: AsyncStream<Event>.Continuation] = [:]
    var next = 0
    /// Whether no more values follow.
    var isFinished = false

    mutating func takeNumber() -> Int {
      next += 1
      return next
    }
  }

  private let listeners = MutexBox(Listeners())

  /// A source that nobody listens to yet.
  package init() {}

  /// Has `handler` told each value, on the thread that sends it.
  package func subscribe(_ handler: @escaping @Sendable (Event) -> Void) -> EventSubscription {
    let number = listeners.withLock { listeners in
      let number = listeners.takeNumber()
      listeners.handlers[number] = handler
      return number
    }
    return EventSubscription { [weak self] in
      _ = self?.listeners.withLock { $0.handlers.removeValue(forKey: number) }
    }
  }

  deinit { finish() }

  /// The values from now on; of those that nobody took yet the newest `count`. The stream ends with
  /// `finish`, and with the source.
  package func stream(keeping count: Int) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(count))
    let number = listeners.withLock { listeners -> Int? in
      guard !listeners.isFinished else { return nil }
      let number = listeners.takeNumber()
      listeners.streams[number] = continuation
      return number
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.streams.removeValue(forKey: number) }
    }
    return stream
  }

  /// Hands `event` to all.
  package func send(_ event: Event) {
    let listeners = listeners.withLock { $0 }
    for stream in listeners.streams.values { stream.yield(event) }
    for (_, handler) in listeners.handlers.sorted(by: { $0.key < $1.key }) { handler(event) }
  }

  /// Ends all streams, and those that are made later.
  package func finish() {
    let streams = listeners.withLock { listeners in
      listeners.isFinished = true
      return Array(listeners.streams.values)
    }
    // A stream that ends removes itself.
    for stream in streams { stream.finish() }
  }
}
