/// A monitor of the progress of a transfer that detects timeouts. All times are in seconds.
struct TransferWatch {
  /// A timeout of a transfer.
  enum Timeout: Equatable {
    case noAnswer
    case stall
    case lowSpeed
  }

  private let timeouts: RemoteFileTimeouts
  /// The time by which the header must be complete; nil after the header was received.
  private var answerDeadline: Double?
  private var lastByte: Double
  private var windowStart: Double
  private var windowByteCount = 0
  private var isPaused = false

  /// Starts to monitor a transfer whose header must be complete at the time `answerDeadline`.
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

  /// Stops checking for timeouts, because no reader is waiting for bytes.
  mutating func pause() { isPaused = true }

  /// Checks for timeouts again, from the time `now` on.
  mutating func proceed(now: Double) {
    isPaused = false
    lastByte = now
    windowStart = now
    windowByteCount = 0
  }

  /// Returns the timeout that has occurred by the time `now`; nil if there is none.
  mutating func timeout(now: Double) -> Timeout? {
    if let answerDeadline { return now >= answerDeadline ? .noAnswer : nil }
    guard !isPaused else { return nil }
    if now - lastByte >= timeouts.stallTimeout { return .stall }
    if now - windowStart >= timeouts.lowSpeedTime {
      if Double(windowByteCount) < timeouts.lowSpeedLimit * timeouts.lowSpeedTime {
        return .lowSpeed
      }
      windowStart = now
      windowByteCount = 0
    }
    return nil
  }

  /// The time at which `timeout` must be called next.
  var nextCheckTime: Double {
    if let answerDeadline { return answerDeadline }
    if isPaused { return .infinity }
    return min(lastByte + timeouts.stallTimeout, windowStart + timeouts.lowSpeedTime)
  }
}

/// The waiting times between retries, each twice as long as the one before, and the limit of
/// retries.
struct RetryBackoff {
  private let timeouts: RemoteFileTimeouts
  private var tries = 0
  /// The maximum number of retries if the server accepts no connection. Few are enough, because a
  /// restarting server is available again soon.
  private static let unconnectedTries = 2

  init(_ timeouts: RemoteFileTimeouts) {
    self.timeouts = timeouts
  }

  /// Resets the number of retries after progress.
  mutating func reset() { tries = 0 }

  /// Returns the number of seconds to wait before the next retry; nil if no retries are left. There
  /// are fewer retries if the server `isUnconnected`: it has never accepted a connection.
  mutating func next(isUnconnected: Bool = false) -> Double? {
    let maximum = timeouts.maximumRetryCount
    guard tries < (isUnconnected ? min(Self.unconnectedTries, maximum) : maximum) else {
      return nil
    }
    tries += 1
    return timeouts.firstRetryDelay * Double(1 << min(tries - 1, 16))
  }
}
