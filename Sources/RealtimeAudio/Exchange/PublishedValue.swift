// Audio thread.

import Synchronization

/// A number that one thread updates for other threads to read.
///
/// ```swift
/// var level = PublishedValue()
/// let view = level.makeView()
/// level.publish(3)
/// precondition(view.value == 3)
/// ```
public struct PublishedValue: ~Copyable, @unchecked Sendable {
  // @unchecked because the number is an atomic.
  private let number: SharedState<Atomic<Int>>

  /// Creates a published value of zero.
  public init() {
    number = SharedState(Atomic(0))
  }

  /// Creates a reading side. There may be any number of them.
  public borrowing func makeView() -> PublishedValueView {
    PublishedValueView(number.share())
  }

  /// Publishes `value`. No other memory depends on it, so relaxed ordering is enough.
  @_noLocks
  public mutating func publish(_ value: Int) {
    number.pointer.pointee.store(value, ordering: .relaxed)
  }
}

/// The reading side of a `PublishedValue`. Any thread.
public struct PublishedValueView: ~Copyable, @unchecked Sendable {
  // @unchecked because the number is an atomic.
  private let number: SharedState<Atomic<Int>>
  @usableFromInline let address: UnsafeMutablePointer<Atomic<Int>>

  init(_ number: consuming SharedState<Atomic<Int>>) {
    address = number.pointer
    self.number = number
  }

  /// The latest value.
  public var value: Int {
    @_noLocks @inlinable get { address.pointee.load(ordering: .relaxed) }
  }
}
