// Audio thread.
import AudioBasics

/// Work on sound on the audio thread that a user of the library writes: an effect, a measurement, a
/// generator.
///
/// ```swift
/// struct RingModulator: AudioEffect {
///   var phase: Float = 0
///   @_noLocks mutating func process(_ frames: inout EffectFrames) {
///     for frame in 0..<frames.count {
///       phase += 440 / Float(frames.sampleRate)
///       if phase >= 1 { phase -= 1 }
///       let carrier = RealtimeMath.sin(2 * .pi * phase)
///       for channel in 0..<frames.channelCount { frames[frame, channel] *= carrier }
///     }
///   }
/// }
///
/// var insert = EffectInsert(RingModulator())
/// insert.prepare(EffectFormat(sampleRate: 48000, channelCount: 2, maximumFrames: 64))
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
/// insert.process(&buffer, frames: 64)
/// ```
///
/// An `EffectInsert` owns effects and runs them; `Mixer.insert` is one between microphone and
/// output.
public protocol AudioEffect: ~Copyable {
  /// Gets ready for sound of this format: makes buffers, works out coefficients, resets what it
  /// remembers.
  ///
  /// Before the first cycle of each run, and again when the device changes. Not during a cycle, so
  /// that it may allocate and wait. Does nothing unless you write it.
  mutating func prepare(_ format: EffectFormat)

  /// Changes the frames of a cycle in place.
  ///
  /// On the audio thread, once a cycle: no allocation, lock, file, terminal or reference count.
  /// Mark it `@_noLocks`, and the compiler refuses whatever breaks that; without the mark nothing
  /// checks it. Functions of the C library are refused: for sines, logarithms and the like use
  /// `RealtimeMath`.
  mutating func process(_ frames: inout EffectFrames)
}

extension AudioEffect where Self: ~Copyable {
  /// Needs no preparation.
  @_noLocks
  public mutating func prepare(_ format: EffectFormat) {}
}

/// The format of the sound that an effect gets.
public struct EffectFormat: BitwiseCopyable, Hashable, Sendable {
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Most frames that one call of `process` gets.
  public let maximumFrames: Int

  /// Sound of `channelCount` channels at `sampleRate` frames a second, at most `maximumFrames`
  /// frames a cycle.
  @_noLocks
  public init(sampleRate: Int, channelCount: Int, maximumFrames: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.maximumFrames = maximumFrames
  }
}

/// The frames of one cycle, lent to an effect for the length of a call. On the audio thread.
public struct EffectFrames: ~Copyable {
  @usableFromInline let base: UnsafeMutablePointer<Float>
  /// Frames of this cycle.
  public let count: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Frames a second.
  public let sampleRate: Int
  /// The first frame's place on the unit's timeline, which counts captured frames, lost ones too.
  public let startFrame: Int
  /// Frames that were lost between the last cycle and this one; 0 where there is no gap.
  public let lostFrames: Int

  @_noLocks
  init(_ call: EffectCall) {
    base = call.base
    count = call.count
    channelCount = call.channelCount
    sampleRate = call.sampleRate
    startFrame = call.startFrame
    lostFrames = call.lostFrames
  }

  /// Samples of this cycle: frames times channels.
  public var sampleCount: Int {
    @_noLocks @inlinable get { count &* channelCount }
  }

  /// The sample of one channel, from 0, in one frame, from 0. Full scale is -1 to 1.
  public subscript(frame: Int, channel: Int) -> Float {
    @_noLocks @inlinable get {
      check(frame, channel)
      return base[frame &* channelCount &+ channel]
    }
    @_noLocks @inlinable set {
      check(frame, channel)
      base[frame &* channelCount &+ channel] = newValue
    }
  }

  /// A sample by its number, from 0: the channels of the first frame, then those of the second.
  public subscript(sample: Int) -> Float {
    @_noLocks @inlinable get {
      requirement(
        sample >= 0 && sample < sampleCount, "The sample is outside of the effect's frames.")
      return base[sample]
    }
    @_noLocks @inlinable set {
      requirement(
        sample >= 0 && sample < sampleCount, "The sample to set is outside of the effect's frames.")
      base[sample] = newValue
    }
  }

  @_noLocks @inlinable @inline(__always)
  func check(_ frame: Int, _ channel: Int) {
    requirement(
      frame >= 0 && frame < count && channel >= 0 && channel < channelCount,
      "The frame or channel is outside of the effect's frames.")
  }
}

/// Arguments of a call to an effect: `EffectFrames`, to be copied through C.
struct EffectCall: BitwiseCopyable {
  let base: UnsafeMutablePointer<Float>
  let count: Int
  let channelCount: Int
  let sampleRate: Int
  let startFrame: Int
  let lostFrames: Int
}
