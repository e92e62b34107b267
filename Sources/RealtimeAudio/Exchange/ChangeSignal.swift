// Audio thread.

import Synchronization

/// Signals to the audio thread that something changed, so that it polls one number per cycle
/// instead of many values. Any thread.
///
/// ```swift
/// let signal = ChangeSignal()
/// var view = signal.makeView()
/// signal.raise()
/// precondition(view.isNew)
/// view.take()
/// precondition(!view.isNew)
/// ```
public struct ChangeSignal: ~Copyable, @unchecked Sendable {
  // @unchecked because the count is an atomic.
  private let count = SharedState(Atomic(0))

  /// Creates a signal that has not been raised.
  public init() {}

  /// Signals a change. Everything written before this call is visible to the thread after `take`.
  @_noLocks
  public borrowing func raise() {
    // Releases the changed values; pairs with the load in `ChangeView.take`.
    count.pointer.pointee.add(1, ordering: .releasing)
  }

  /// Creates the polling side. Earlier calls of `raise` do not count as new for it.
  public borrowing func makeView() -> ChangeView { ChangeView(count.share()) }
}

/// Polls a `ChangeSignal`. One thread.
public struct ChangeView: ~Copyable, @unchecked Sendable {
  // @unchecked because the count is an atomic, and the rest has one owner.
  private let count: SharedState<Atomic<Int>>
  @usableFromInline let address: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline var seen: Int

  init(_ count: consuming SharedState<Atomic<Int>>) {
    address = count.pointer
    seen = count.pointer.pointee.load(ordering: .acquiring)
    self.count = count
  }

  /// Whether the signal was raised since the last `take`.
  public var isNew: Bool {
    @_noLocks @inlinable get { address.pointee.load(ordering: .relaxed) != seen }
  }

  /// Acknowledges the changes so far. Read the changed values after this call.
  @_noLocks
  public mutating func take() {
    // Acquires what `raise` released.
    seen = address.pointee.load(ordering: .acquiring)
  }
}
