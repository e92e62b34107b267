// Audio thread.

/// A state of two values that one thread updates for other threads to read.
///
/// ```swift
/// var isDimmed = PublishedFlag()
/// let view = isDimmed.makeView()
/// isDimmed.publish(true)
/// precondition(view.isSet)
/// ```
public struct PublishedFlag: ~Copyable, Sendable {
  /// 1 if the flag is set, otherwise 0.
  private var number = PublishedValue()

  /// Creates a published flag.
  public init(_ isSet: Bool = false) {
    publish(isSet)
  }

  /// Creates a reading side. There may be any number of them.
  public borrowing func makeView() -> PublishedFlagView {
    PublishedFlagView(number.makeView())
  }

  /// Publishes whether the flag is set. No other memory depends on it.
  @_noLocks
  public mutating func publish(_ isSet: Bool) { number.publish(isSet ? 1 : 0) }
}

/// The reading side of a `PublishedFlag`. Any thread.
public struct PublishedFlagView: ~Copyable, Sendable {
  @usableFromInline let number: PublishedValueView

  fileprivate init(_ number: consuming PublishedValueView) {
    self.number = number
  }

  /// Whether the flag is set, as published last.
  public var isSet: Bool {
    @_noLocks @inlinable get { number.value != 0 }
  }
}
