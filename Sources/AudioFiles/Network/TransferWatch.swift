/// Notes when bytes of a transfer come, and says when it takes too long.
struct TransferWatch {
  /// Timeout that a transfer can run into.
  enum Trouble: Equatable {
    case noAnswer
    case stall
    case drip
  }

  private let timeouts: RemoteFileTimeouts
  /// nil once the header is there.
  private var answerDeadline: Double?
  private var lastByte: Double
  private var windowStart: Double
  private var windowByteCount = 0
  private var isPaused = false

  /// The whole header is to be there by `answerDeadline`.
  init(_ timeouts: RemoteFileTimeouts, now: Double, answerDeadline: Double) {
    self.timeouts = timeouts
    self.answerDeadline = answerDeadline
    lastByte = now
    windowStart = now
  }

  mutating func answered(now: Double) {
    answerDeadline = nil
    proceed(now: now)
  }

  mutating func received(_ byteCount: Int, now: Double) {
    lastByte = now
    windowByteCount += byteCount
  }

  /// No reader waits for bytes.
  mutating func pause() { isPaused = true }

  /// Bytes are waited for again, from `now` on.
  mutating func proceed(now: Double) {
    isPaused = false
    lastByte = now
    windowStart = now
    windowByteCount = 0
  }

  /// What took too long by `now`.
  mutating func trouble(now: Double) -> Trouble? {
    if let answerDeadline { return now >= answerDeadline ? .noAnswer : nil }
    guard !isPaused else { return nil }
    if now - lastByte >= timeouts.stalling { return .stall }
    if now - windowStart >= timeouts.dripping {
      if Double(windowByteCount) < timeouts.slowestRate * timeouts.dripping { return .drip }
      windowStart = now
      windowByteCount = 0
    }
    return nil
  }

  /// When to ask for trouble next.
  var nextLook: Double {
    if let answerDeadline { return answerDeadline }
    if isPaused { return .infinity }
    return min(lastByte + timeouts.stalling, windowStart + timeouts.dripping)
  }
}

/// Waiting times between tries, each twice as long as the one before, and their number.
struct RetryBackoff {
  private let timeouts: RemoteFileTimeouts
  private var tries = 0
  /// Tries where nothing was saved by waiting: a server that starts anew is there soon.
  private static let unconnectedTries = 2

  init(_ timeouts: RemoteFileTimeouts) {
    self.timeouts = timeouts
  }

  /// A new byte came.
  mutating func reset() { tries = 0 }

  /// Seconds to wait before the next try; nil where it is time to give up: sooner where the server
  /// `isUnconnected`, as it never took a connection.
  mutating func next(isUnconnected: Bool = false) -> Double? {
    let most = timeouts.tryCount
    guard tries < (isUnconnected ? min(Self.unconnectedTries, most) : most) else { return nil }
    tries += 1
    return timeouts.firstPause * Double(1 << min(tries - 1, 16))
  }
}
