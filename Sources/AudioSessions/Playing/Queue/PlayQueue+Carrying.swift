import AudioFiles

/// The continuation of a queue in another one, when the player is attached to another unit.
extension PlayQueue {
  /// Opens the source that continues from an earlier queue. Returns false while it is not open yet.
  /// Throws the reason for which it cannot continue.
  func resume() throws(FileFailure) -> Bool {
    guard let resumption else { return true }
    if !resumption.isOpening { opener.begin(resumption) }
    self.resumption?.isOpening = true
    guard let opened = opener.take() else {
      isWaiting = true
      return false
    }
    self.resumption = nil
    let (track, item) = (resumption.span.track, resumption.span.item)
    do throws(FileFailure) {
      let source = try opened.get()
      current = source
      sources[track.number] = source
      prebuffering.begin(source)
      published.withLock { played in
        played.spans[0].positions = source.positions
        played.spans[0].settings = source.settings
      }
      return true
    } catch {
      published.withLock { played in
        played.spans.removeFirst()
        played.fail(error, item: item, index: track.index)
      }
      throw error
    }
  }

  /// Returns the state that continues from the queue's frame `frame` in a queue for a unit of
  /// another rate; `rateFactor` is the old rate divided by the new one. This queue delivers no more
  /// frames. If `keepingDecoders` is false, another thread may still read the decoders; otherwise
  /// no other thread uses this queue any more.
  func carry(from frame: Int, keepingDecoders: Bool, rateFactor: Double) -> CarriedQueue {
    let span = published.withLock { $0.resumed(at: frame) }
    var carried = CarriedQueue()
    let nextEntry = list.withLock { list -> QueuePosition? in
      isRetired.raise()
      let nextEntry = list.generation == generation ? list.nextEntry?.position : nil
      carried.resumption = span.map {
        QueueResumption($0, at: frame, number: list.takeTrackNumber(), rateFactor: rateFactor)
      }
      if let span { list.skip(to: span.track.position.moved(by: 1)) }
      return nextEntry
    }
    guard keepingDecoders else { return carried }
    let opened = try? opener.take()?.get()
    if let span {
      carried.resumption?.decoders =
        sources[span.track.number]?.decoders
        ?? (resumption?.isOpening == true ? opened?.decoders : resumption?.decoders)
      let source = sources[span.track.number] as? TrackGroup
      carried.resumption?.chosen = source.map(\.chosenPart) ?? resumption?.chosen
    }
    carried.decoders = unplayedDecoders.decoders
    for track in published.withLock({ $0.spans.map(\.track) }) where track !== span?.track {
      carried.decoders[track.position] = sources[track.number]?.decoders
    }
    if let nextEntry, resumption == nil {
      carried.decoders[nextEntry] = (upcoming ?? opened)?.decoders
    }
    carried.proceed()
    return carried
  }
}
