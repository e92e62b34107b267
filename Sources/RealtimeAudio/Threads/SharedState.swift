import Glibc
import Synchronization

/// A value that several threads use, one at a time, and a wait for it to change. Not for the audio
/// thread.
///
/// The standard library's `Mutex` does the same, but out of ThreadSanitizer's sight: it would call
/// every use a race.
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

  /// Guards `value` from now on.
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

  /// What `work` makes of the value; other threads wait meanwhile. Do not call it from within
  /// itself. Throws what `work` throws.
  public func withLock<Answer: ~Copyable, Failure: Error>(
    _ work: (inout Value) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try work(&value)
  }

  /// The first answer that `work` has; it is asked again after each `announce`.
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

  /// Lets the threads that wait ask again.
  package func announce() { pthread_cond_broadcast(condition) }
}

/// A fact that one thread makes known to others, once.
///
/// ```swift
/// let isDone = AtomicFlag()
/// let worker = Task { isDone.raise() }
/// await worker.value
/// precondition(isDone.isRaised)
/// ```
public final class AtomicFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  /// A fact not known yet.
  public init() {}

  /// Makes it known. Pairs with the load in `isRaised`.
  public func raise() {
    raised.store(true, ordering: .releasing)
  }

  /// Whether it is known.
  public var isRaised: Bool { raised.load(ordering: .acquiring) }
}

/// State that two threads own together: freed when the last owner goes.
///
/// Counted by hand, and only where an owner is made or ends, so that no reference count is touched
/// while audio runs. Owners are made and destroyed off the audio thread.
package struct SharedState<State: ~Copyable>: ~Copyable {
  /// The shared value. Valid as long as this owner.
  package let pointer: UnsafeMutablePointer<State>
  private let owners: UnsafeMutablePointer<Atomic<Int>>

  /// Its first owner.
  package init(_ state: consuming State) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: state)
    owners = .allocate(capacity: 1)
    owners.initialize(to: Atomic(1))
  }

  private init(sharing other: borrowing SharedState) {
    pointer = other.pointer
    owners = other.owners
    owners.pointee.add(1, ordering: .relaxed)
  }

  /// One more owner of the same value.
  package borrowing func share() -> SharedState {
    SharedState(sharing: self)
  }

  deinit {
    // Releases this owner's writes to the last owner, which acquires all owners' before it frees.
    guard owners.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    pointer.deinitialize(count: 1)
    pointer.deallocate()
    owners.deinitialize(count: 1)
    owners.deallocate()
  }
}
