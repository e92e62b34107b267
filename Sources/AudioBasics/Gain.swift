// Audio thread.

/// Factor for amplitudes, from silence to 60 dB. A gain of 0 dB is a factor of exactly 1.
///
/// ```swift
/// let gain = Gain(decibels: -6)
/// precondition(abs(gain.factor - 0.501) < 0.001)
/// ```
public struct Gain: BitwiseCopyable, Hashable, Sendable {
  /// The factor, 20 log10 of which are decibels.
  public let factor: Float

  /// A factor between 0 and 1000 (60 dB); what lies beyond is moved to the nearest, and what is no
  /// number is silence.
  @_noLocks
  public init(factor: Float) {
    self.factor = factor > 0 ? min(factor, 1000) : 0
  }

  /// A gain below 0 dB, to within 0.01 dB, without the C library's `pow`, which is not marked for
  /// the audio thread.
  @_noLocks
  public init(attenuation decibels: Float) {
    guard decibels > -200 else {
      factor = 0
      return
    }
    guard decibels < 0 else {
      factor = 1
      return
    }
    let octaves = decibels / 6.0205999
    let whole = Int32(truncatingIfNeeded: Int(clamping: octaves)) &- 1
    let rest = (octaves - Float(whole)) * 0.6931472
    let power = 1 + rest * (1 + rest * (0.5 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    factor = power * Float(bitPattern: UInt32(bitPattern: whole &+ 127) << 23)
  }

  /// 0 dB: what passes stays as it is.
  public static var unity: Gain { @_noLocks get { Gain(factor: 1) } }
  /// Nothing passes.
  public static var silence: Gain { @_noLocks get { Gain(factor: 0) } }
}

/// A gain that moves to another one in a straight line, never in a step, and then is exact: a gain
/// of one leaves every sample as it was. For the audio thread; a value belongs to one thread at a
/// time.
///
/// ```swift
/// var gain = SmoothedGain(.silence)
/// gain.glide(to: .unity, frames: 480)
/// var buffer = SampleBuffer(frameCount: 480, channelCount: 2)
/// gain.process(&buffer, frames: 480)
/// precondition(gain.isTransparent)
/// ```
public struct SmoothedGain: BitwiseCopyable {
  /// The factor of the next frame.
  public private(set) var factor: Float
  /// Where it stands, or what it moves to.
  public private(set) var target: Gain
  /// Frames until it stands there.
  public private(set) var remainingFrames = 0

  /// Stands at `gain`.
  @_noLocks
  public init(_ gain: Gain) {
    target = gain
    factor = gain.factor
  }

  /// Rises from silence to `gain` within `frames` frames.
  @_noLocks
  public init(fadingInTo gain: Gain, frames: Int) {
    self.init(.silence)
    glide(to: gain, frames: frames)
  }

  /// Whether it stands at one, and so changes nothing.
  @inlinable
  public var isTransparent: Bool {
    @_noLocks get { remainingFrames == 0 && factor == 1 }
  }

  /// Whether it stands at silence.
  public var isSilent: Bool {
    @_noLocks get { remainingFrames == 0 && factor == 0 }
  }

  /// Moves to `gain` within `frames` frames, from where it is.
  @_noLocks
  public mutating func glide(to gain: Gain, frames: Int) {
    target = gain
    remainingFrames = max(1, frames)
  }

  /// Stands at `gain` at once.
  @_noLocks
  public mutating func jump(to gain: Gain) {
    self = SmoothedGain(gain)
  }

  /// Multiplies the first `frames` frames.
  @_noLocks @inlinable
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if !isTransparent { process(&buffer, from: 0, frames: frames) }
  }

  /// Multiplies `frames` frames from `first` on.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, from first: Int, frames: Int) {
    let moving = min(frames, remainingFrames)
    if moving > 0 {
      let step = (target.factor - factor) / Float(remainingFrames)
      buffer.ramp(from: first, frames: moving, gain: factor, step: step)
      remainingFrames &-= moving
      factor = remainingFrames == 0 ? target.factor : factor + step * Float(moving)
    }
    guard moving < frames && factor != 1 else { return }
    if factor == 0 {
      buffer.clear(from: first &+ moving, frames: frames &- moving)
    } else {
      buffer.scale(from: first &+ moving, frames: frames &- moving, by: factor)
    }
  }
}
