import AudioFiles

/// What is to be played.
extension AudioPlayer {
  /// Plays `item` when everything before it is over.
  public func enqueue(_ item: QueueItem) {
    queue.list.withLock { $0.append(item) }
  }

  /// Plays what `decoder` gives when everything before it is over. The decoder belongs to the player
  /// from now on, and can be played once.
  public func enqueue(
    _ decoder: sending any SoundDecoder, settings: TrackSettings = TrackSettings()
  ) {
    enqueue(QueueItem(.once(decoder, settings: settings)))
  }

  /// Plays what is behind an http or https address when everything before it is over. It is opened
  /// ahead; what cannot be is told as an event when its turn comes.
  public func enqueue(address: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.address(address, settings: settings)))
  }

  /// Plays the file `path` when everything before it is over. What cannot be opened is told as an
  /// event when its turn comes.
  public func enqueue(path: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.file(path, settings: settings)))
  }

  /// Ends what plays, forgets the queue and plays `item`.
  public func resetAndEnqueue(_ item: QueueItem) {
    clearQueue()
    cancelCurrent()
    enqueue(item)
  }

  /// Ends what plays; the next in the queue, if there is one, follows without a gap.
  public func cancelCurrent() { skip(by: 1) }

  /// Forgets what has not begun.
  public func clearQueue() {
    _ = queue.list.withLock { $0.remove(all: true) }
  }

  /// Whether nothing waits behind what plays.
  public var isQueueEmpty: Bool {
    queue.list.withLock { $0.next >= $0.items.count }
  }

  /// Takes the next item out of the queue.
  public func dequeue() -> QueueItem? {
    queue.list.withLock { $0.remove(all: false) }.first
  }

  /// Whether the queue begins anew at its end, and then in another order.
  public func setRepeating(_ repeats: Bool, shuffles: Bool = false) {
    queue.list.withLock { list in
      list.repeats = repeats
      list.shuffles = shuffles
    }
  }

  /// Goes on with the item so many places further on in the queue; below 0 back, 0 from its
  /// beginning.
  public func skip(by count: Int) {
    feeder.ask(
      interrupts: true,
      .work { queue, frame in
        let index = queue.published.withLock { $0.span(at: frame)?.index }
        queue.list.withLock { list in
          let first = index ?? max(0, list.next - 1)
          // What is opened already, behind what ends now, stays so.
          if first + count != list.next { list.skip(to: first + count) }
        }
        queue.cut(at: frame)
        return true
      })
  }
}

extension QueueItem.Part {
  /// What is behind an http or https address.
  public static func address(
    _ address: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    QueueItem.Part(
      name: address, takesTime: true, settings: { _ throws(FileFailure) in settings },
      open: { opening throws(FileFailure) in
        try opening.decoder(ofAddress: address)
      })
  }

  /// The sound file `path`; standard input where it is `-`.
  public static func file(
    _ path: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    QueueItem.Part(
      name: path, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in try Decoding.decoder(forPath: path) })
  }

  /// A decoder that is there already.
  static func once(
    _ decoder: sending any SoundDecoder, settings: TrackSettings
  ) -> QueueItem.Part {
    let name = decoder.name
    let box = GivenDecoder(decoder)
    return QueueItem.Part(
      name: name, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in
        if box.decoder.position != 0 { try box.decoder.seek(toFrame: 0) }
        return box.decoder
      })
  }
}

extension QueueItem.Part {
  /// Has `decoder` begin anew instead of opening another.
  mutating func restart(_ decoder: RestartableDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in
      try box.decoder.seek(toFrame: 0)
      return box.decoder
    }
  }
}

/// A decoder on its way to the thread that reads it.
private struct GivenDecoder: @unchecked Sendable {
  // @unchecked because whoever gave it away does not use it any more.
  let decoder: any SoundDecoder

  init(_ decoder: sending any SoundDecoder) { self.decoder = decoder }

  /// Of a source that was ended before it was heard, and is not read any more.
  init(keeping decoder: RestartableDecoder) { self.decoder = decoder }
}
