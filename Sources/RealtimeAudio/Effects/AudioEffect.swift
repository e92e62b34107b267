// Audio thread.
import AudioBasics

/// Processing on the audio thread that a user of the library writes: an effect, a measurement or a
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
/// An `EffectInsert` owns effects and runs them; `Mixer.insert` is one between the microphone and
/// the output.
public protocol AudioEffect: ~Copyable {
  /// Prepares the effect for audio of this format: allocates buffers, computes coefficients and
  /// resets state. An effect that owns a `SampleBuffer` is declared `~Copyable`.
  ///
  /// Called before the first cycle of each run, and again if the device changes. It is not called
  /// during a cycle, so it may allocate and wait. The default implementation does nothing.
  mutating func prepare(_ format: EffectFormat)

  /// Processes the frames of a cycle in place.
  ///
  /// Called on the audio thread, once per cycle. It must not allocate, lock, use files or the
  /// terminal, or change reference counts. Mark it `@_noLocks`, and the compiler rejects
  /// violations; without the mark they are not checked. Functions of the C library are rejected as
  /// well: use `RealtimeMath` for sines, logarithms and similar functions. So are arrays, even to
  /// read one: keep delay lines, tables and other state in a `SampleBuffer` that `prepare`
  /// allocates.
  mutating func process(_ frames: inout EffectFrames)
}

extension AudioEffect where Self: ~Copyable {
  /// Does nothing.
  @_noLocks
  public mutating func prepare(_ format: EffectFormat) {}
}

/// The format of the audio that an effect processes.
public struct EffectFormat: BitwiseCopyable, Hashable, Sendable {
  /// The number of frames per second.
  public let sampleRate: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  /// The maximum number of frames in one call of `process`.
  public let maximumFrames: Int

  /// Creates a format of `channelCount` channels at `sampleRate` frames per second, with at most
  /// `maximumFrames` frames per cycle.
  @_noLocks
  public init(sampleRate: Int, channelCount: Int, maximumFrames: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.maximumFrames = maximumFrames
  }
}

/// The frames of one cycle, lent to an effect for the duration of a call. On the audio thread.
public struct EffectFrames: ~Copyable {
  @usableFromInline let base: UnsafeMutablePointer<Float>
  /// The number of frames in this cycle.
  public let count: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  /// The number of frames per second.
  public let sampleRate: Int
  /// The position of the first frame on the unit's timeline, which counts captured and lost frames.
  public let startFrame: Int
  /// The number of frames lost between the last cycle and this one; 0 if there is no gap.
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

  /// The number of samples in this cycle: frames times channels.
  public var sampleCount: Int {
    @_noLocks @inlinable get { count &* channelCount }
  }

  /// The sample at a frame and a channel, both counted from 0. Full scale is -1 to 1.
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

  /// The sample at an index from 0: the channels of the first frame, then those of the second.
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

/// The arguments of a call to an effect: the contents of `EffectFrames`, which are copied through
/// C.
struct EffectCall: BitwiseCopyable {
  let base: UnsafeMutablePointer<Float>
  let count: Int
  let channelCount: Int
  let sampleRate: Int
  let startFrame: Int
  let lostFrames: Int
}
