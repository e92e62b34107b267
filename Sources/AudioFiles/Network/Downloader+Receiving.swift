import RealtimeAudio

/// The receiving side of a download: judges responses, and stores their bytes in the cache.
extension Downloader: TransferReceiver {
  func wants(_ header: ResponseHeader) -> Bool {
    let rules = ResponseRules(address: address.current, start: attempt.start, known: facts)
    let verdict = rules.verdict(header)
    attempt.verdict = verdict
    guard case .accept(let offset) = verdict else { return false }
    let now = HostClock.seconds
    attempt.watch.answered(now: now)
    address.noteAnswer()
    // A server may send less than requested (RFC 9110, 15.3.7). Parts of fewer than 4096 bytes are
    // not accepted as complete.
    if let start = attempt.start, let end = header.contentRange?.bytes?.upperBound,
      end - start >= Self.firstBytes
    {
      attempt.requestEnd = attempt.requestEnd.map { min($0, end) }
    }
    attempt.announcements = header.announcementInterval.map { ICYMetadata(interval: $0) }
    let isFirst = facts == nil
    var facts = facts ?? rules.facts(header)
    // The server sent the whole file instead of a range, so it does not support ranges from now on.
    if offset != attempt.start ?? 0 { facts.hasRanges = false }
    self.facts = facts
    shared.withLock { [facts] state in
      if isFirst {
        state.facts = facts
        state.situation.end = facts.byteCount
        state.situation.isOpen = true
      }
      state.situation.hasRanges = facts.hasRanges
      // The bytes that a station sends now are appended to those received before the interruption.
      state.situation.transfer = facts.isLive ? state.cache.present.end : offset
      state.titles.begin(with: header.stationName)
    }
    shared.notifyAll()
    return true
  }

  func headerIsTooLong() { attempt.refusal = .headerTooLong(address.current) }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
    let now = HostClock.seconds
    let reception = shared.withLock { state in
      guard !state.isStopped, state.nextTask == .proceed else {
        state.situation.isPaused = true
        state.meter.pause(now: now)
        return Reception.pause
      }
      state.meter.received(bytes.count, now: now)
      do throws(SystemError) {
        try take(bytes, &state)
      } catch {
        attempt.refusal = .cache(address.original.name, error)
        return .refused
      }
      // The cache must hold the read-ahead, whatever its size.
      let bound = max(
        facts?.isLive == true ? bounds.window : bounds.cache,
        state.situation.bounds.readAhead * 2)
      // Shrink only from time to time, not for every packet.
      if state.cache.present.byteCount > bound + bound / 16 {
        state.cache.shrink(to: bound, reader: state.situation.reader)
      }
      return .taken
    }
    switch reception {
    case .pause: attempt.watch.pause()
    case .taken:
      attempt.watch.received(bytes.count, now: now)
      shared.notifyAll()
    case .refused: break
    }
    return reception
  }

  private func take(
    _ bytes: UnsafeRawBufferPointer, _ state: inout RemoteState
  ) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      var count = rest.count
      if let part = attempt.announcements?.next(rest) {
        switch part {
        case .sound(let soundCount): count = soundCount
        case .announcement(let textCount, let title):
          if let title, !title.isEmpty {
            let situation = state.situation
            state.titles.add(title, from: situation.transfer ?? 0, reader: situation.reader)
          }
          rest = UnsafeRawBufferPointer(rebasing: rest[textCount...])
          continue
        }
      }
      try keep(UnsafeRawBufferPointer(rebasing: rest[..<count]), &state)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  private func keep(
    _ sound: UnsafeRawBufferPointer, _ state: inout RemoteState
  ) throws(SystemError) {
    let offset = state.situation.transfer ?? 0
    // After an interruption, a server without ranges sends the bytes again that are already stored.
    if state.cache.present.firstGap(from: offset) < offset + sound.count {
      attempt.newByteCount += try state.cache.write(sound, at: offset)
    }
    state.situation.transfer = offset + sound.count
  }
}
