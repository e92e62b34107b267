// Audio thread.

import AudioBasics
import RealtimeAudio

/// A gain on its way from thread to thread.
extension PublishedValueView {
  /// As last published.
  var gain: Gain {
    @_noLocks get { Gain(factor: Float(bitPattern: UInt32(truncatingIfNeeded: value))) }
  }
}

extension PublishedValue {
  /// Makes `gain` the latest.
  @_noLocks
  mutating func publish(gain: Gain) { publish(Int(gain.factor.bitPattern)) }
}
