import Glibc

/// A meter of the download rate: a weighted average over recent time in which bytes were needed.
struct RateMeter {
  // The time constant in seconds: the weight of older bytes and seconds falls to 1/e in this time.
  private let memory = 2.0
  private var bytes = 0.0
  private var seconds = 0.0
  private var last: Double?

  /// Starts the measurement: bytes are needed from `now` on.
  mutating func begin(now: Double) {
    if last == nil { last = now }
  }

  /// Suspends the measurement: no bytes are needed from `now` on.
  mutating func pause(now: Double) {
    advance(to: now)
    last = nil
  }

  mutating func received(_ byteCount: Int, now: Double) {
    advance(to: now)
    bytes += Double(byteCount)
  }

  /// Returns the rate in bytes per second; nil if the measurement is too short.
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
