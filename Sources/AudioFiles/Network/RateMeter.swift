import Glibc

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
