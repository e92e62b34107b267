/// The state shared by the reader and the network thread.
struct RemoteState {
  var situation = FetchSituation()
  let cache: SparseCache
  /// The reason why no more bytes can be downloaded; nil if they can.
  var failure: FileFailure?
  /// Whether a later attempt may succeed.
  var failureMayPass = false
  var isStopped = false
  var isInterrupted = false
  /// The deadline after which reads fail, while the first or the next audio is awaited.
  var soundDeadline: SoundDeadline?
  /// Whether the network thread has been notified of the deadline.
  var isDeadlineKnown = true
  /// The properties of the file from the first response.
  var facts = RemoteFacts()
  var titles = StationTitles()
  var meter = RateMeter()

  init(cache: SparseCache, bounds: RemoteFileBounds) {
    self.cache = cache
    situation.bounds = bounds
  }

  /// The next task of the network thread.
  var nextTask: FetchTask {
    failure == nil ? situation.nextTask(cache.present) : .rest
  }

  /// Whether the network thread must be woken for this task.
  var needsAttention: Bool {
    switch nextTask {
    case .proceed: situation.isPaused
    case .fetch: true
    case .pause: false
    case .rest: situation.transfer != nil
    }
  }

  /// Whether all bytes are stored.
  var isComplete: Bool {
    guard let end = situation.end else { return false }
    return cache.present.firstGap(from: 0) >= end
  }

  /// Returns whether `offset` was passed and cannot be downloaded again, because the server does
  /// not support ranges.
  func isGone(_ offset: Int) -> Bool {
    guard situation.isOpen, !situation.hasRanges else { return false }
    // If no transfer of a file is running, the next one begins at byte 0.
    return offset < (facts.isLive ? cache.present.end : situation.transfer ?? 0)
  }
}

/// The deadline of a reader that waits for audio.
struct SoundDeadline {
  /// The time in seconds of the host clock.
  let time: Double
  /// Whether the deadline is for the first audio of the file.
  let isFirst: Bool
}
