import Synchronization

/// A fact that one thread makes known to others, once.
public final class Latch: Sendable {
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
