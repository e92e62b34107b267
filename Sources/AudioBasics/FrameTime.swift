// Audio thread.

/// Duration of frames in nanoseconds.
package enum FrameTime {
  /// Nanoseconds that `frames` frames last at `rate` frames a second, of whole seconds and the
  /// rest: the product of frames and nanoseconds alone would overflow after seven hours at 768 kHz.
  @_noLocks
  @inlinable
  package static func nanoseconds(of frames: Int, at rate: Int) -> UInt64 {
    let whole = frames / rate
    let rest = frames % rate
    return UInt64(bitPattern: Int64(whole &* 1_000_000_000 &+ rest &* 1_000_000_000 / rate))
  }
}
