import Glibc

/// A value that several threads use, one at a time, with a wait for changes. Not for the audio
/// thread.
///
/// The standard library's `Mutex` is equivalent, but ThreadSanitizer does not recognise it and
/// would report every use as a race.
///
/// ```swift
/// let names = MutexBox<[String]>([])
/// names.withLock { $0.append("take.wav") }
/// precondition(names.withLock { $0.count } == 1)
/// ```
public final class MutexBox<Value: ~Copyable>: @unchecked Sendable {
  // @unchecked because the value is touched only by the thread that holds the lock.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  @exclusivity(unchecked) private var value: Value

  /// Creates a lock that guards `value`.
  public init(_ value: consuming sending Value) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
    self.value = value
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `work` with the value and returns its result; other threads wait until it returns. Must
  /// not be called recursively. Throws the errors of `work`.
  public func withLock<Answer: ~Copyable, Failure: Error>(
    _ work: (inout Value) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try work(&value)
  }

  /// Returns the first non-nil result of `work`, which is called again after each `notifyAll`.
  /// Throws the errors of `work`.
  package func wait<Answer: ~Copyable, Failure: Error>(
    for work: (inout Value) throws(Failure) -> Answer?
  ) throws(Failure) -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let answer = try work(&value) { return answer }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Makes the waiting threads call their `work` again.
  package func notifyAll() { pthread_cond_broadcast(condition) }
}
