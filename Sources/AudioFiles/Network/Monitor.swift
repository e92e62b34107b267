import Glibc

/// State that threads share, and a wait for it to change.
///
/// `@unchecked Sendable` because the state is touched by whoever holds the mutex only.
final class Monitor<State>: @unchecked Sendable {
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
