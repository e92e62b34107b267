// Audio thread.

import AudioBasics
import RealtimeAudio

/// A gain that one thread updates for other threads to read.
struct PublishedGain: ~Copyable, Sendable {
  /// The bits of the factor.
  private var bits = PublishedValue()

  init(_ gain: Gain) {
    publish(gain)
  }

  /// Creates a reading side. There may be any number of them.
  borrowing func makeView() -> PublishedGainView { PublishedGainView(bits.makeView()) }

  /// Publishes `gain`.
  @_noLocks
  mutating func publish(_ gain: Gain) { bits.publish(Int(gain.factor.bitPattern)) }
}

/// The reading side of a `PublishedGain`. Any thread.
struct PublishedGainView: ~Copyable, Sendable {
  private let bits: PublishedValueView

  fileprivate init(_ bits: consuming PublishedValueView) {
    self.bits = bits
  }

  /// The gain last published.
  var gain: Gain {
    @_noLocks get { Gain(factor: Float(bitPattern: UInt32(truncatingIfNeeded: bits.value))) }
  }
}
