// Audio thread.
import AudioBasics

/// A gain that starts from silence and reaches its value without a click, and then is exact: a gain
/// of one leaves every sample as it was.
public struct GainRamp: BitwiseCopyable {
  private let target: Float
  private let length: Int
  private var done = 0

  /// Reaches `gain` after `frames` frames.
  public init(to gain: Float, frames: Int) {
    target = gain
    length = max(0, frames)
  }

  /// Whether it changes nothing any more: full gain, and that is one.
  public var isTransparent: Bool {
    @_noLocks get { done >= length && target == 1 }
  }

  /// Applies it to the next `frames` frames.
  @_noLocks
  public mutating func apply(to buffer: inout SampleBuffer, frames: Int) {
    if done >= length {
      if target != 1 { buffer.scale(frames: frames, by: target) }
      return
    }
    let step = target / Float(length)
    let rising = min(frames, length &- done)
    buffer.ramp(frames: rising, from: step * Float(done), step: step)
    if target != 1 && rising < frames {
      buffer.scale(from: rising, frames: frames &- rising, by: target)
    }
    done &+= rising
  }
}
