// Audio thread.

import AudioBasics
import Synchronization

/// A number that one thread keeps up to date for others to read.
///
/// ```swift
/// var counter = PublishedValue()
/// let view = counter.makeView()
/// counter.publish(3)
/// precondition(view.value == 3)
/// ```
public struct PublishedValue: ~Copyable, @unchecked Sendable {
  // @unchecked because the count is an atomic.
  private let count: SharedState<Atomic<Int>>

  /// A count of zero.
  public init() {
    count = SharedState(Atomic(0))
  }

  /// The side that reads. As many as are wanted.
  public borrowing func makeView() -> PublishedValueView {
    PublishedValueView(count.share())
  }

  /// Makes `value` the latest. It stands alone, so relaxed order is enough.
  @_noLocks
  public mutating func publish(_ value: Int) {
    count.pointer.pointee.store(value, ordering: .relaxed)
  }
}

/// Reads a number that another thread keeps up to date. Any thread.
public struct PublishedValueView: ~Copyable, @unchecked Sendable {
  // @unchecked because the count is an atomic.
  private let count: SharedState<Atomic<Int>>
  @usableFromInline let address: UnsafeMutablePointer<Atomic<Int>>

  init(_ count: consuming SharedState<Atomic<Int>>) {
    address = count.pointer
    self.count = count
  }

  /// The latest value.
  public var value: Int {
    @_noLocks @inlinable get { address.pointee.load(ordering: .relaxed) }
  }
}
