import Glibc

/// A thread at normal priority that gets no signals: those are for the thread that watches for them.
final class NetworkThread: Sendable {
  private let thread: pthread_t

  /// Runs `work` until it returns. Throws `.cannotOpen`.
  init(_ work: @escaping @Sendable () -> Void) throws(FileFailure) {
    let box = Unmanaged.passRetained(Box(work))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 512 << 10)
    // At normal priority, whatever the thread has that makes it.
    pthread_attr_setinheritsched(&attributes, Int32(PTHREAD_EXPLICIT_SCHED))
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    // The new thread inherits the mask.
    pthread_sigmask(SIG_SETMASK, &all, &former)
    var thread = pthread_t()
    let refusal = pthread_create(
      &thread, &attributes,
      { box in
        guard let box else { return nil }
        Unmanaged<Box>.fromOpaque(box).takeRetainedValue().work()
        return nil
      }, box.toOpaque())
    pthread_sigmask(SIG_SETMASK, &former, nil)
    guard refusal == 0 else {
      box.release()
      throw FileFailure(
        .cannotOpen,
        "No thread for the network can be started: \(SystemError(number: refusal).reason).",
        hint: "Close other programs, or raise the limit with ulimit -u.")
    }
    self.thread = thread
  }

  /// Waits until the work has returned. Once.
  func join() {
    pthread_join(thread, nil)
  }

  private final class Box: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  }
}

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
