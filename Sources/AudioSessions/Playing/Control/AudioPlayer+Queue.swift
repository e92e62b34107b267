import AudioBasics
import AudioFiles

/// The queue of a player: adding and removing items, skipping and repeating.
extension AudioPlayer {
  /// Plays `item` when everything before it is over.
  public func enqueue(_ item: QueueItem) { enqueue([item]) }

  /// Plays `items`, one after the other, when everything before them is over.
  public func enqueue(_ items: [QueueItem]) {
    list.withLock { $0.append(items) }
  }

  /// Plays what `decoder` gives when everything before it is over. The decoder belongs to the
  /// player from now on. The player releases it after `reset`, and when 64 further tracks have
  /// begun, unless the queue repeats.
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
  ///
  /// ```swift
  /// let player = AudioPlayer()
  /// player.enqueue(path: "one.flac")
  /// player.enqueue(path: "two.flac", settings: TrackSettings(gain: Gain(decibels: -3)))
  /// precondition(!player.isQueueEmpty)
  /// player.clearQueue()
  /// precondition(player.isQueueEmpty)
  /// ```
  public func enqueue(path: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.file(path, settings: settings)))
  }

  /// Ends what plays and forgets the queue, what was played as well: nothing of it is repeated or
  /// skipped back to.
  public func reset() {
    let end = list.withLock { list in
      list.forgetAll()
      return list.next
    }
    ask(
      interrupts: true,
      .work { queue, frame in
        // A track that was enqueued after the reset goes on.
        if let played = queue.position(at: frame), played.track.place >= end { return false }
        queue.list.withLock { if $0.next < end { $0.skip(to: end) } }
        queue.cut(at: frame)
        return true
      })
  }

  /// Ends what plays, forgets the queue and plays `item`.
  public func resetAndEnqueue(_ item: QueueItem) {
    reset()
    enqueue(item)
  }

  /// The same with the file `path`.
  public func resetAndEnqueue(path: String, settings: TrackSettings = TrackSettings()) {
    resetAndEnqueue(QueueItem(.file(path, settings: settings)))
  }

  /// The same with an http or https address.
  public func resetAndEnqueue(address: String, settings: TrackSettings = TrackSettings()) {
    resetAndEnqueue(QueueItem(.address(address, settings: settings)))
  }

  /// The same with what `decoder` gives, once: it belongs to the player from now on.
  public func resetAndEnqueue(
    _ decoder: sending any SoundDecoder, settings: TrackSettings = TrackSettings()
  ) {
    resetAndEnqueue(QueueItem(.once(decoder, settings: settings)))
  }

  /// Ends what plays; the next in the queue, if there is one, follows without a gap.
  public func cancelCurrent() { skip(by: 1) }

  /// Forgets what has not begun.
  public func clearQueue() {
    _ = list.withLock { $0.remove(all: true) }
  }

  /// Whether nothing waits behind what plays.
  public var isQueueEmpty: Bool {
    list.withLock { $0.isRoundOver }
  }

  /// The files of the queue, those that were played among them.
  package var files: Set<FileIdentity> {
    let items = list.withLock { $0.items }
    return Set(items.flatMap(\.parts).compactMap(\.filePath).compactMap { FileIdentity(of: $0) })
  }

  /// Takes the next item out of the queue.
  public func dequeue() -> QueueItem? {
    list.withLock { $0.remove(all: false) }.first
  }

  /// Whether the queue begins anew at its end, and then in another random order; with a `seed` the
  /// orders are the same in each run.
  public func setRepeating(_ repeats: Bool, shuffles: Bool = false, seed: UInt64? = nil) {
    list.withLock { list in
      list.repeats = repeats
      list.shuffles = shuffles
      if let seed { list.randomNumbers = SplitMix64(seed: seed) }
    }
  }

  /// Whether the queue begins anew at its end, as last set.
  public var isRepeating: Bool { list.withLock { $0.repeats } }

  /// Whether it does so in another order, as last set.
  public var isShuffling: Bool { list.withLock { $0.shuffles } }

  /// Goes on with the item that number of places further on in the queue; below 0 back, 0 from its
  /// beginning. Where an earlier skip has not taken effect yet, it goes on from where that leads.
  /// While no track plays because the next item is being opened, it goes on from that item, and
  /// cancels its opening.
  public func skip(by count: Int) {
    skip { _ in count }
  }

  /// Goes to the beginning of the track that is playing, or to the item before it: within the
  /// track's first `seconds` seconds, and where an earlier skip has not taken effect yet.
  public func skipBack(within seconds: Double = 2) {
    skip { ($0?.seconds ?? 0) > seconds ? 0 : -1 }
  }

  /// Skips by the number of items that `count` returns for the position that is playing. That is
  /// nil where nothing plays or an earlier skip has not taken effect yet.
  private func skip(by count: @escaping @Sendable (PlaybackPosition?) -> Int) {
    ask(
      interrupts: true,
      .work { queue, frame in
        let played = queue.position(at: frame)
        queue.list.withLock { list in
          let place =
            played?.track.place ?? list.coming?.place
            ?? (queue.isCut ? list.next : list.next.moved(by: -1))
          list.skip(to: place.moved(by: count(played)))
        }
        queue.cut(at: frame)
        return true
      })
  }
}
