import RealtimeAudio

/// The subscription of an event handler. `cancel` removes the handler.
public struct EventSubscription: Sendable {
  private let remove: @Sendable () -> Void

  init(_ remove: @escaping @Sendable () -> Void) {
    self.remove = remove
  }

  /// Removes the handler. It is not called for later events; a call for an earlier one may still be
  /// running when this returns. Any thread.
  public func cancel() { remove() }
}

/// Delivers values to any number of handlers and streams, in the order in which they are sent.
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

  /// Creates a source without handlers and streams.
  package init() {}

  /// Adds `handler`, which is called with each later value on the thread that sends it.
  package func subscribe(_ handler: @escaping @Sendable (Event) -> Void) -> EventSubscription {
    let number = listeners.withLock { listeners in
      let number = listeners.takeNumber()
      if !listeners.isFinished { listeners.handlers[number] = handler }
      return number
    }
    return EventSubscription { [weak self] in
      _ = self?.listeners.withLock { $0.handlers.removeValue(forKey: number) }
    }
  }

  deinit { finish() }

  /// Returns a stream of all later values. It buffers the newest `count` values that were not read
  /// yet, and drops older ones. The stream ends with `finish`, and with the source.
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

  /// Delivers `event` to all streams and handlers.
  package func send(_ event: Event) {
    let listeners = listeners.withLock { $0 }
    for stream in listeners.streams.values { stream.yield(event) }
    for (_, handler) in listeners.handlers.sorted(by: { $0.key < $1.key }) { handler(event) }
  }

  /// Ends all streams, and those that are made later, and releases the handlers, which may refer to
  /// the owner of this source.
  package func finish() {
    let (streams, handlers) = listeners.withLock { listeners in
      listeners.isFinished = true
      defer { listeners.handlers = [:] }
      return (Array(listeners.streams.values), listeners.handlers)
    }
    // A stream that ends removes itself.
    for stream in streams { stream.finish() }
    // Released here, without the lock.
    _ = consume handlers
  }
}
