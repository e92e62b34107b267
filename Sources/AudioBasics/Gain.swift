// Audio thread.

/// What amplitudes are multiplied by, from silence to 60 dB. A gain of 0 dB is a factor of exactly 1.
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

  /// A gain below 0 dB, to within 0.01 dB, where the C library's `pow` is not to be had.
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

/// A gain that moves to another one in a straight line, never in a step, and then is exact: a gain of
/// one leaves every sample as it was.
/// For the audio thread; a value belongs to one thread at a time.
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

/// Decibels where the C library's logarithms are not to be had.
/// Any thread, the audio thread as well.
public enum RealtimeDecibels {
  /// The level of a mean square in dB, to within 0.01 dB; -200 for silence.
  ///
  /// 10 log10 of the power: the exponent of the number, and for its fraction the series of
  /// ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...).
  @_noLocks
  public static func level(ofPower power: Float) -> Float {
    levels(ofPowers: SIMD4(repeating: power))[0]
  }

  /// The levels of four mean squares in dB, to within 0.01 dB; -200 for silence, and for what is no number.
  @_noLocks
  public static func levels(ofPowers powers: SIMD4<Float>) -> SIMD4<Float> {
    // In this order of operands a maximum is one instruction, and NaN becomes the least power.
    let least = SIMD4<Float>(repeating: 1e-20)
    let audible = least.replacing(with: powers, where: powers .> least)
    let most = SIMD4<Float>(repeating: 1e20)
    let bounded = most.replacing(with: audible, where: audible .< most)
    let bits = unsafeBitCast(bounded, to: SIMD4<Int32>.self)
    let exponents = (bits &>> 23) &- 127
    let fractionBits = bits & SIMD4(repeating: 0x007F_FFFF) | SIMD4(repeating: 0x3F80_0000)
    let fractions = unsafeBitCast(fractionBits, to: SIMD4<Float>.self)
    // Around the root of two, where the series is short.
    let root = SIMD4<Float>(repeating: 1.4142135)
    let ratios = (fractions - root) / (fractions + root)
    let squares = ratios * ratios
    let series: SIMD4<Float> = (squares * Float(0.2) + Float(1) / 3) * squares + Float(1)
    let octaves = SIMD4<Float>(exponents) + ratios * series * Float(2.8853900)
    let levels = octaves * Float(3.0103000) + Float(1.5051500)
    let silence = SIMD4<Float>(repeating: -200)
    return silence.replacing(with: levels, where: powers .> least)
  }
}
