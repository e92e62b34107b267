import Synchronization

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
