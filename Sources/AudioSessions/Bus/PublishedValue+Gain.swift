// Audio thread.

import AudioBasics
import RealtimeAudio

/// A gain that one thread publishes for another.
extension PublishedValueView {
  /// The gain last published.
  var gain: Gain {
    @_noLocks get { Gain(factor: Float(bitPattern: UInt32(truncatingIfNeeded: value))) }
  }
}

extension PublishedValue {
  /// Publishes `gain`.
  @_noLocks
  mutating func publish(gain: Gain) { publish(Int(gain.factor.bitPattern)) }
}
