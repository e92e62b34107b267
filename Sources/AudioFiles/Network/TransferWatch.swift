import Glibc
import RealtimeAudio

/// State that threads share, and a wait for it to change.
///
/// `@unchecked Sendable` because the state is touched only by the thread that holds the mutex.
final class ConditionLock<State>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  init(_ state: sending State) {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    self.state = state
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// What `work` makes of the state.
  func withLock<Answer, Failure: Error>(
    _ work: (inout State) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try work(&state)
  }

  /// The first answer that `work` has; asks again after each `announce`.
  func wait<Answer, Failure: Error>(
    for work: (inout State) throws(Failure) -> Answer?
  ) throws(Failure) -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let answer = try work(&state) { return answer }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Lets those that wait ask again.
  func announce() {
    pthread_cond_broadcast(condition)
  }
}

/// Seconds on a clock that never goes back.
enum SteadyClock {
  static var now: Double { Double(HostClock.nanoseconds) / 1e9 }
}

/// Notes when bytes of a transfer come, and says when it takes too long.
struct TransferWatch {
  /// What takes too long.
  enum Trouble: Equatable {
    case noAnswer
    case stall
    case drip
  }

  private let patience: RemoteFilePatience
  /// nil once the header is there.
  private var answerDeadline: Double?
  private var lastByte: Double
  private var windowStart: Double
  private var windowByteCount = 0
  private var isPaused = false

  /// The whole header is to be there by `answerDeadline`.
  init(_ patience: RemoteFilePatience, now: Double, answerDeadline: Double) {
    self.patience = patience
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
    if now - lastByte >= patience.stalling { return .stall }
    if now - windowStart >= patience.dripping {
      if Double(windowByteCount) < patience.slowestRate * patience.dripping { return .drip }
      windowStart = now
      windowByteCount = 0
    }
    return nil
  }

  /// When to ask for trouble next.
  var nextLook: Double {
    if let answerDeadline { return answerDeadline }
    if isPaused { return .infinity }
    return min(lastByte + patience.stalling, windowStart + patience.dripping)
  }
}

/// How long to wait before the next try.
struct RetryPace {
  private let patience: RemoteFilePatience
  private var tries = 0

  init(_ patience: RemoteFilePatience) {
    self.patience = patience
  }

  /// A new byte came.
  mutating func progressed() { tries = 0 }

  /// Seconds to wait before the next try; nil where it is time to give up.
  mutating func next() -> Double? {
    guard tries < patience.tryCount else { return nil }
    tries += 1
    return patience.firstPause * Double(1 << min(tries - 1, 16))
  }
}
