/// What the reader and the network thread share.
struct RemoteState {
  var situation = FetchSituation()
  let cache: SparseCache
  /// Since when no more can be had.
  var failure: FileFailure?
  /// Whether a later try may do better.
  var failureMayPass = false
  var isStopped = false
  var isInterrupted = false
  /// When reads fail, on the steady clock: while it is not known yet whether there is any sound.
  var probeDeadline: Double?
  /// Of the first response.
  var facts = RemoteFacts()
  var title: String?
  var meter = RateMeter()

  init(cache: SparseCache, bounds: RemoteFileBounds) {
    self.cache = cache
    situation.bounds = bounds
  }

  /// What the network thread is to do.
  var order: FetchOrder {
    failure == nil ? situation.order(cache.present) : .rest
  }

  /// Whether the network thread must be woken to do it.
  var needsAttention: Bool {
    switch order {
    case .proceed: situation.isPaused
    case .fetch: true
    case .pause: false
    case .rest: situation.transfer != nil
    }
  }

  /// Whether every byte is here.
  var isComplete: Bool {
    guard let end = situation.end else { return false }
    return cache.present.firstGap(from: 0) >= end
  }

  /// Whether `offset` lies behind what a server that only goes forward will bring.
  func isGone(_ offset: Int) -> Bool {
    guard situation.isOpen, !situation.hasRanges else { return false }
    // A transfer of a file begins anew where the next one begins.
    return offset < (facts.isLive ? cache.present.end : situation.transfer ?? 0)
  }
}

/// What is known of a remote file from its first response on.
struct RemoteFacts: Equatable, Sendable {
  /// All its bytes; nil where the server does not say.
  var byteCount: Int?
  /// Whether the server begins where it is told to.
  var hasRanges = false
  /// Whether it is a radio station, which goes on for ever.
  var isLive = false
  var validator = FileValidator()
  var contentType: String?
  /// Bits a second.
  var bitRate: Int?
}
