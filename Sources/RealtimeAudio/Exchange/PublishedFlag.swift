// Audio thread.

import Synchronization

/// A state of two values that one thread updates for other threads to read.
///
/// ```swift
/// var isDimmed = PublishedFlag()
/// let view = isDimmed.makeView()
/// isDimmed.publish(true)
/// precondition(view.isSet)
/// ```
public struct PublishedFlag: ~Copyable, @unchecked Sendable {
  // @unchecked because the flag is an atomic.
  private let flag: SharedState<Atomic<Bool>>

  /// Creates a published flag.
  public init(_ isSet: Bool = false) {
    flag = SharedState(Atomic(isSet))
  }

  /// Creates a reading side. There may be any number of them.
  public borrowing func makeView() -> PublishedFlagView {
    PublishedFlagView(flag.share())
  }

  /// Publishes whether the flag is set. No other memory depends on it, so relaxed ordering is
  /// enough.
  @_noLocks
  public mutating func publish(_ isSet: Bool) {
    flag.pointer.pointee.store(isSet, ordering: .relaxed)
  }
}

/// The reading side of a `PublishedFlag`. Any thread.
public struct PublishedFlagView: ~Copyable, @unchecked Sendable {
  // @unchecked because the flag is an atomic.
  private let flag: SharedState<Atomic<Bool>>
  @usableFromInline let address: UnsafeMutablePointer<Atomic<Bool>>

  init(_ flag: consuming SharedState<Atomic<Bool>>) {
    address = flag.pointer
    self.flag = flag
  }

  /// Whether the flag is set, as published last.
  public var isSet: Bool {
    @_noLocks @inlinable get { address.pointee.load(ordering: .relaxed) }
  }
}
