// Audio thread.

/// Durations of frames in nanoseconds, and the reverse.
package enum FrameTime {
  /// Returns the duration of `frames` frames at `rate` frames per second, in nanoseconds. Whole
  /// seconds and the remainder are converted separately: the product of all frames and 10^9 would
  /// overflow after about three hours at 768 kHz.
  @_noLocks
  @inlinable
  package static func nanoseconds(of frames: Int, at rate: Int) -> UInt64 {
    let whole = frames / rate
    let rest = frames % rate
    return UInt64(bitPattern: Int64(whole &* 1_000_000_000 &+ rest &* 1_000_000_000 / rate))
  }

  /// Returns the number of frames, and parts of one, at `rate` frames per second in `nanoseconds`.
  @_noLocks
  @inlinable
  package static func frames(in nanoseconds: UInt64, at rate: Int) -> Double {
    Double(nanoseconds) * 1e-9 * Double(rate)
  }
}
