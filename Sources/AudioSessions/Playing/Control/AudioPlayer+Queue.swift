import AudioBasics
import AudioFiles

/// The queue of a player: adding and removing items, skipping and repeating.
extension AudioPlayer {
  /// Adds `item` to the end of the queue.
  public func enqueue(_ item: QueueItem) { enqueue([item]) }

  /// Adds `items`, in this order, to the end of the queue.
  public func enqueue(_ items: [QueueItem]) {
    list.withLock { $0.append(items) }
  }

  /// Adds the audio of `decoder` to the end of the queue. The decoder belongs to the player from
  /// now on. The player releases it after `reset`, and when 64 further tracks have begun, unless
  /// the queue repeats.
  public func enqueue(
    _ decoder: sending any SoundDecoder, settings: TrackSettings = TrackSettings()
  ) {
    enqueue(QueueItem(.once(decoder, settings: settings)))
  }

  /// Adds the source at an http or https address to the end of the queue. It is opened ahead; if it
  /// cannot be opened, an event reports this when its turn comes.
  public func enqueue(address: String, settings: TrackSettings = TrackSettings()) {
    enqueue(QueueItem(.address(address, settings: settings)))
  }

  /// Adds the file `path` to the end of the queue. If it cannot be opened, an event reports this
  /// when its turn comes.
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

  /// Ends the current track and clears the queue, including played items: none of them can be
  /// repeated or skipped back to.
  public func reset() {
    let end = list.withLock { list in
      list.forgetAll()
      return list.next
    }
    request(
      .work { queue, frame in
        // A track that was enqueued after the reset continues.
        if let played = queue.position(at: frame), played.track.position >= end { return false }
        queue.list.withLock { if $0.next < end { $0.skip(to: end) } }
        queue.cut(at: frame)
        return true
      })
  }

  /// Ends the current track, clears the queue and adds `item`.
  public func resetAndEnqueue(_ item: QueueItem) {
    reset()
    enqueue(item)
  }

  /// Ends the current track, clears the queue and adds the file `path`.
  public func resetAndEnqueue(path: String, settings: TrackSettings = TrackSettings()) {
    resetAndEnqueue(QueueItem(.file(path, settings: settings)))
  }

  /// Ends the current track, clears the queue and adds the source at an http or https address.
  public func resetAndEnqueue(address: String, settings: TrackSettings = TrackSettings()) {
    resetAndEnqueue(QueueItem(.address(address, settings: settings)))
  }

  /// Ends the current track, clears the queue and adds the audio of `decoder`, which is played
  /// once: it belongs to the player from now on.
  public func resetAndEnqueue(
    _ decoder: sending any SoundDecoder, settings: TrackSettings = TrackSettings()
  ) {
    resetAndEnqueue(QueueItem(.once(decoder, settings: settings)))
  }

  /// Ends the current track; the next item of the queue, if there is one, follows without a gap.
  public func cancelCurrent() { skip(by: 1) }

  /// Removes the items that have not begun.
  public func clearQueue() {
    _ = list.withLock { $0.remove(all: true) }
  }

  /// Whether no item follows the current one.
  public var isQueueEmpty: Bool {
    list.withLock { $0.isRoundOver }
  }

  /// The files of the queue, including played ones.
  package var files: Set<FileIdentity> {
    let items = list.withLock { $0.items }
    return Set(items.flatMap(\.parts).compactMap(\.filePath).compactMap { FileIdentity(of: $0) })
  }

  /// Removes and returns the next item of the queue; nil if there is none.
  public func dequeue() -> QueueItem? {
    list.withLock { $0.remove(all: false) }.first
  }

  /// Whether the queue starts again at its end.
  public var isRepeating: Bool {
    get { list.withLock { $0.repeats } }
    set { list.withLock { $0.repeats = newValue } }
  }

  /// Whether each repetition of the queue has another random order. It has no effect unless
  /// `isRepeating` is true.
  public var isShuffling: Bool {
    get { list.withLock { $0.shuffles } }
    set { list.withLock { $0.shuffles = newValue } }
  }

  /// Makes the random orders of the repetitions, from the next one on, the same in each run with
  /// this `seed`. Without it they differ from run to run.
  ///
  /// ```swift
  /// let player = AudioPlayer()
  /// player.isRepeating = true
  /// player.isShuffling = true
  /// player.seedShuffling(2026)
  /// precondition(player.isRepeating && player.isShuffling)
  /// ```
  public func seedShuffling(_ seed: UInt64) {
    list.withLock { $0.randomNumbers = SplitMix64(seed: seed) }
  }

  /// Skips by that number of items in the queue; a negative number skips back, and 0 returns to the
  /// beginning of the item. If an earlier skip has not taken effect yet, this one starts from the
  /// target of the earlier skip. While no track plays because the next item is being opened, it
  /// starts from that item, and cancels its opening.
  public func skip(by count: Int) {
    skip { _ in count }
  }

  /// Returns to the beginning of the current track, or to the item before it: within the track's
  /// first `seconds` seconds, and if an earlier skip has not taken effect yet.
  public func skipBack(within seconds: Double = 2) {
    skip { ($0?.seconds ?? 0) > seconds ? 0 : -1 }
  }

  /// Skips by the number of items that `count` returns for the current position, which is nil if
  /// nothing is playing or an earlier skip has not taken effect yet.
  private func skip(by count: @escaping @Sendable (PlaybackPosition?) -> Int) {
    request(
      .work { queue, frame in
        let played = queue.position(at: frame)
        queue.list.withLock { list in
          let position =
            played?.track.position ?? list.nextEntry?.position
            ?? (queue.isCut ? list.next : list.next.moved(by: -1))
          list.skip(to: position.moved(by: count(played)))
        }
        queue.cut(at: frame)
        return true
      })
  }
}
