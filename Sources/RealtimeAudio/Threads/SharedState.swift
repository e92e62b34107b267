import Glibc
import Synchronization

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

/// A flag that one thread sets once for other threads.
///
/// ```swift
/// let isDone = AtomicFlag()
/// let worker = Task { isDone.raise() }
/// await worker.value
/// precondition(isDone.isRaised)
/// ```
public final class AtomicFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  /// Creates a flag that is not set.
  public init() {}

  /// Sets the flag. Pairs with the load in `isRaised`.
  public func raise() {
    raised.store(true, ordering: .releasing)
  }

  /// Sets the flag, and returns whether this call is the first one. What was written before the
  /// first call can be read after a later one.
  public func raiseFirst() -> Bool {
    !raised.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Whether the flag is set.
  public var isRaised: Bool { raised.load(ordering: .acquiring) }
}

/// State that several owners on different threads share, freed at the end of the last owner.
///
/// Owners are counted explicitly, and only when one is created or destroyed, so that no reference
/// count changes while audio runs. Create and destroy owners off the audio thread.
package struct SharedState<State: ~Copyable>: ~Copyable {
  /// The shared value. Valid during the lifetime of this owner.
  package let pointer: UnsafeMutablePointer<State>
  private let owners: UnsafeMutablePointer<Atomic<Int>>

  /// Creates the first owner.
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

  /// Creates another owner of the same value.
  package borrowing func share() -> SharedState {
    SharedState(sharing: self)
  }

  deinit {
    // Releases this owner's writes to the last owner, which acquires the writes of all owners
    // before it frees the value.
    guard owners.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    pointer.deinitialize(count: 1)
    pointer.deallocate()
    owners.deinitialize(count: 1)
    owners.deallocate()
  }
}
