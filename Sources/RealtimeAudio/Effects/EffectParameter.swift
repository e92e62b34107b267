// Audio thread.
import AudioBasics
import Synchronization

/// A number that controls an effect, such as a depth, a threshold or a mix. Any thread may change
/// it while audio runs.
///
/// ```swift
/// let depth = EffectParameter(0.5, in: 0...1)
/// var ramp = depth.makeRamp(seconds: 0.01)  // the effect's half
/// depth.value = 0.8  // from any thread; heard without a step
/// precondition(ramp.advance(frames: 480) == 0.8)
/// ```
public final class EffectParameter: @unchecked Sendable {
  // @unchecked because the value is an atomic, and the rest does not change.
  /// The least and the highest value.
  public let range: ClosedRange<Float>
  private let wanted: SharedState<Atomic<UInt32>>

  /// Creates a parameter of `value`, limited to `range`.
  public init(
    _ value: Float,
    in range: ClosedRange<Float> = -Float.greatestFiniteMagnitude...Float.greatestFiniteMagnitude
  ) {
    self.range = range
    let start = value.isNaN ? range.lowerBound : min(max(value, range.lowerBound), range.upperBound)
    wanted = SharedState(Atomic(start.bitPattern))
  }

  /// The value that was set last. Any thread; never waits. A value outside of `range` becomes its
  /// nearest bound; not a number (NaN) is ignored.
  public var value: Float {
    get { Float(bitPattern: wanted.pointer.pointee.load(ordering: .relaxed)) }
    set {
      guard !newValue.isNaN else { return }
      let value = min(max(newValue, range.lowerBound), range.upperBound)
      // No other memory depends on it, so relaxed ordering is enough.
      wanted.pointer.pointee.store(value.bitPattern, ordering: .relaxed)
    }
  }

  /// Creates the ramp for the effect, which moves linearly to each new value within `seconds`
  /// seconds. Any thread, before the effect runs.
  public func makeRamp(seconds: Double = 0.02) -> ParameterRamp {
    ParameterRamp(wanted.share(), seconds: seconds)
  }
}

/// The audio thread's half of an `EffectParameter`: its value for each frame, without steps.
///
/// ```swift
/// let gain = EffectParameter(0, in: 0...1)
/// var ramp = gain.makeRamp(seconds: 0.01)
/// ramp.prepare(EffectFormat(sampleRate: 48000, channelCount: 1, maximumFrames: 480))
/// gain.value = 1
/// var last: Float = 0
/// for _ in 0..<480 { last = ramp.next() }
/// precondition(abs(last - 1) < 0.001)
/// ```
public struct ParameterRamp: ~Copyable, @unchecked Sendable {
  // @unchecked because the value is an atomic, and the rest has one owner.
  private let wanted: SharedState<Atomic<UInt32>>
  private let seconds: Double
  private var rampFrames: Int
  private var taken: UInt32
  private var step: Float = 0
  private var remainingFrames = 0
  /// The value of the frame that `next` was last called for.
  public private(set) var value: Float

  init(_ wanted: consuming SharedState<Atomic<UInt32>>, seconds: Double) {
    taken = wanted.pointer.pointee.load(ordering: .relaxed)
    value = Float(bitPattern: taken)
    self.wanted = wanted
    self.seconds = seconds
    rampFrames = Self.rampLength(seconds, 48000)
  }

  /// Computes the number of frames of a ramp and sets the value to that of the parameter at once.
  /// Call it from the effect's `prepare`; without this call, 48,000 frames per second are assumed.
  public mutating func prepare(_ format: EffectFormat) {
    rampFrames = Self.rampLength(seconds, format.sampleRate)
    taken = wanted.pointer.pointee.load(ordering: .relaxed)
    value = Float(bitPattern: taken)
    remainingFrames = 0
  }

  private static func rampLength(_ seconds: Double, _ sampleRate: Int) -> Int {
    Int(rounding: min(max(1, seconds * Double(sampleRate)), 1e9))
  }

  /// Returns the value of the next frame. On the audio thread, once per frame.
  @_noLocks
  public mutating func next() -> Float { advance(frames: 1) }

  /// Advances by `frames` frames and returns the value, for effects that need one value per cycle.
  /// On the audio thread.
  @_noLocks
  public mutating func advance(frames: Int) -> Float {
    let wanted = self.wanted.pointer.pointee.load(ordering: .relaxed)
    if wanted != taken {
      taken = wanted
      remainingFrames = rampFrames
      step = (Float(bitPattern: wanted) - value) / Float(rampFrames)
    }
    guard remainingFrames > 0 else { return value }
    let moving = min(frames, remainingFrames)
    remainingFrames &-= moving
    value = remainingFrames == 0 ? Float(bitPattern: taken) : value + step * Float(moving)
    return value
  }
}
