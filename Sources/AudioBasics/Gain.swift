// Audio thread.

/// A factor for amplitudes, from silence to 60 dB. A gain of 0 dB is a factor of exactly 1.
///
/// ```swift
/// let gain = Gain(decibels: -6)
/// precondition(abs(gain.factor - 0.501) < 0.001)
/// ```
public struct Gain: BitwiseCopyable, Hashable, Sendable {
  /// The factor. The gain in decibels is 20 log10 of it.
  public let factor: Float

  /// Creates a gain of `factor`, limited to the range from 0 to 1000 (60 dB). Not a number (NaN)
  /// becomes silence.
  @_noLocks
  public init(factor: Float) {
    self.factor = factor > 0 ? min(factor, 1000) : 0
  }

  /// Creates a gain of `decibels` to within 0.01 dB: silence at -200 and below, at most 60. It does
  /// not use the C library's `pow`, which is not marked for the audio thread.
  @_noLocks
  public init(realtimeDecibels decibels: Float) {
    guard decibels > -200 else {
      factor = 0
      return
    }
    let octaves = min(decibels, 60) / 6.0205999
    let whole = Int32(truncatingIfNeeded: Int(clamping: octaves)) &- (octaves < 0 ? 1 : 0)
    let rest = (octaves - Float(whole)) * 0.6931472
    let power = 1 + rest * (1 + rest * (0.5 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    factor = power * Float(bitPattern: UInt32(bitPattern: whole &+ 127) << 23)
  }

  /// 0 dB: samples remain unchanged.
  public static var unity: Gain { @_noLocks get { Gain(factor: 1) } }
  /// A factor of 0.
  public static var silence: Gain { @_noLocks get { Gain(factor: 0) } }
}

/// A gain that moves to another gain linearly, never in a step, and then is exact: at a factor of
/// one every sample remains unchanged. For the audio thread; one thread uses a value at a time.
///
/// ```swift
/// var gain = SmoothedGain(.silence)
/// gain.ramp(to: .unity, frames: 480)
/// var buffer = SampleBuffer(frameCount: 480, channelCount: 2)
/// gain.process(&buffer, frames: 480)
/// precondition(gain.isTransparent)
/// ```
public struct SmoothedGain: BitwiseCopyable {
  /// The factor of the next frame.
  public private(set) var factor: Float
  /// The final gain of the current ramp, or the current gain if no ramp is in progress.
  public private(set) var target: Gain
  /// The number of frames until the gain reaches `target`.
  public private(set) var remainingFrames = 0

  /// Creates a constant gain of `gain`.
  @_noLocks
  public init(_ gain: Gain) {
    target = gain
    factor = gain.factor
  }

  /// Creates a gain that rises from silence to `gain` within `frames` frames.
  @_noLocks
  public init(fadingInTo gain: Gain, frames: Int) {
    self.init(.silence)
    ramp(to: gain, frames: frames)
  }

  /// Whether the factor is constantly one, so that `process` changes nothing.
  @inlinable
  public var isTransparent: Bool {
    @_noLocks get { remainingFrames == 0 && factor == 1 }
  }

  /// Whether the factor is constantly zero.
  public var isSilent: Bool {
    @_noLocks get { remainingFrames == 0 && factor == 0 }
  }

  /// Starts a ramp from the current factor to `gain` within `frames` frames.
  @_noLocks
  public mutating func ramp(to gain: Gain, frames: Int) {
    target = gain
    remainingFrames = max(1, frames)
  }

  /// Sets the factor to `gain` at once.
  @_noLocks
  public mutating func set(_ gain: Gain) {
    self = SmoothedGain(gain)
  }

  /// Multiplies the first `frames` frames by the gain.
  @_noLocks @inlinable
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if !isTransparent { process(&buffer, from: 0, frames: frames) }
  }

  /// Multiplies `frames` frames, starting at the frame `first`, by the gain.
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
