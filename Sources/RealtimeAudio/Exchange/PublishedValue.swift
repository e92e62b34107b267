// Audio thread.

import Synchronization

/// A number that one thread keeps up to date for others to read.
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

  /// Zero.
  public init() {
    number = SharedState(Atomic(0))
  }

  /// The side that reads. As many as are wanted.
  public borrowing func makeView() -> PublishedValueView {
    PublishedValueView(number.share())
  }

  /// Makes `value` the latest. It stands alone, so relaxed order is enough.
  @_noLocks
  public mutating func publish(_ value: Int) {
    number.pointer.pointee.store(value, ordering: .relaxed)
  }
}

/// Reads a number that another thread keeps up to date. Any thread.
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
