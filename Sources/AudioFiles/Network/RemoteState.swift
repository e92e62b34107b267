import Glibc

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
  /// When reads fail: while it is not known yet whether there is any sound, or any more.
  var soundDeadline: SoundDeadline?
  /// Whether the network thread knows of it.
  var isDeadlineKnown = true
  /// Of the first response.
  var facts = RemoteFacts()
  var title: String?
  var meter = RateMeter()

  init(cache: SparseCache, bounds: RemoteFileBounds) {
    self.cache = cache
    situation.bounds = bounds
  }

  /// What the network thread is to do.
  var order: FetchDecision {
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

/// Until when a reader waits for sound.
struct SoundDeadline {
  /// On the steady clock.
  let time: Double
  /// Whether it is for the first of it.
  let isFirst: Bool
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

/// How fast bytes come in: an average over the last seconds in which they were wanted.
struct RateMeter {
  // Older bytes and older seconds count less: a third after as long as this.
  private let memory = 2.0
  private var bytes = 0.0
  private var seconds = 0.0
  private var last: Double?

  /// From now on bytes are wanted.
  mutating func begin(now: Double) {
    if last == nil { last = now }
  }

  /// From now on no bytes are wanted.
  mutating func pause(now: Double) {
    advance(to: now)
    last = nil
  }

  mutating func received(_ byteCount: Int, now: Double) {
    advance(to: now)
    bytes += Double(byteCount)
  }

  /// Bytes a second; nil before there was time to measure.
  func rate(now: Double) -> Double? {
    var meter = self
    meter.advance(to: now)
    return meter.seconds > 0.01 ? meter.bytes / meter.seconds : nil
  }

  private mutating func advance(to now: Double) {
    guard let last else { return }
    let passed = max(0, now - last)
    let kept = exp(-passed / memory)
    bytes *= kept
    seconds = seconds * kept + memory * (1 - kept)
    self.last = now
  }
}
