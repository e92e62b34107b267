// Audio thread.

import Synchronization

/// Tells the audio thread that something changed, so that it looks at one number a cycle for many
/// things. Any thread.
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

  /// A signal that nothing was told by yet.
  public init() {}

  /// Tells that something changed: what was written before is seen by who takes it.
  @_noLocks
  public borrowing func raise() {
    // Releases what changed; pairs with the load in `ChangeView.take`.
    count.pointer.pointee.add(1, ordering: .releasing)
  }

  /// The side that looks; what was told before is not new to it.
  public borrowing func makeView() -> ChangeView { ChangeView(count.share()) }
}

/// Looks whether something changed. One thread.
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

  /// Whether something changed since the last `take`.
  public var isNew: Bool {
    @_noLocks @inlinable get { address.pointee.load(ordering: .relaxed) != seen }
  }

  /// Takes what changed: read it after this.
  @_noLocks
  public mutating func take() {
    // Acquires what `raise` released.
    seen = address.pointee.load(ordering: .acquiring)
  }
}
