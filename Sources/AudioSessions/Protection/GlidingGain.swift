// Audio thread.
import AudioBasics

/// A gain that moves to another one in a straight line, never in a step.
public struct GlidingGain: BitwiseCopyable {
  /// The gain of the next frame.
  public private(set) var value: Float
  private var target: Float
  private var remaining = 0

  /// Stands at `value`.
  public init(_ value: Float) {
    self.value = value
    target = value
  }

  /// Whether it stands at one, and so changes nothing.
  public var isTransparent: Bool {
    @_noLocks get { remaining == 0 && value == 1 }
  }

  /// Moves to `gain` within `frames` frames, from where it is.
  @_noLocks
  public mutating func glide(to gain: Float, frames: Int) {
    target = gain
    remaining = max(1, frames)
  }

  /// Stands at `gain` at once.
  @_noLocks
  public mutating func jump(to gain: Float) {
    value = gain
    target = gain
    remaining = 0
  }

  /// Applies it to `frames` frames from `first` on.
  @_noLocks
  public mutating func apply(to buffer: inout SampleBuffer, from first: Int = 0, frames: Int) {
    let moving = min(frames, remaining)
    if moving > 0 {
      let step = (target - value) / Float(remaining)
      buffer.ramp(from: first, frames: moving, gain: value, step: step)
      remaining &-= moving
      value = remaining == 0 ? target : value + step * Float(moving)
    }
    if moving < frames && value != 1 {
      buffer.scale(from: first &+ moving, frames: frames &- moving, by: value)
    }
  }
}
