// Audio thread.

import AudioBasics
import AudioLevels
import CVectors

/// A limiter that keeps samples at or below a limit: without look-ahead and therefore without
/// delay, or with a look-ahead, which delays all frames by `delayFrames` and lowers them smoothly
/// before a peak. For the audio thread; a value belongs to one thread at a time.
///
/// The gain of a frame falls at once to that of its loudest channel, g = limit / peak. It rises
/// only to the gain that the highest peak of the hold time requires, with g += (target - g) /
/// (release x rate). If the hold time is at least half a period of the lowest note, the gain of a
/// steady tone is constant from crest to crest and adds no harmonics, and it recovers soon after a
/// short peak. All channels share the gain, so that the stereo image does not move. Frames below
/// the limit pass unchanged, bit for bit, once the gain is back at one. Samples that are NaN or
/// infinite become silence.
///
/// ```swift
/// var limiter = Limiter(limit: 0.5, sampleRate: 48000)
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
/// for frame in 0..<64 { buffer[frame] = 2 }
/// limiter.process(&buffer, frames: 64)
/// precondition(buffer[63] <= 0.5 && limiter.limitedFrames == 64)
/// ```
public struct Limiter: ~Copyable {
  /// The highest magnitude of a sample in the output, where 1 is full scale; may be changed between
  /// two calls of `process`. A value below 0, or not a number (NaN), counts as 0: silence.
  public var limit: Float {
    @_noLocks get { clampedLimit }
    @_noLocks set { clampedLimit = Self.clamped(newValue) }
  }
  /// The number of frames by which the limiter delays the sound: 0 without a look-ahead.
  public let delayFrames: Int
  /// The number of input frames above the limit so far.
  public private(set) var limitedFrames = 0
  /// The number of input samples so far that were NaN or infinite, and became silence.
  public private(set) var silencedSamples = 0
  /// Whether the gain must not rise, while the effect of a perturbation is measured.
  public var isHeld = false
  /// The gain of the last frame.
  public private(set) var gain: Float = 1

  private var clampedLimit: Float
  private var lookAhead: LookAheadLimiter?
  private let recovery: Float
  /// The highest peak of the hold time; it has no memory if the gain is never held.
  private var recentPeak: SlidingPeak
  /// The gain that is being approached.
  private var target: Float = 1

  /// Creates a limiter at `limit`, where 1 is full scale, for sound of `sampleRate` Hz, which must
  /// be above 0. The gain begins to rise `holdSeconds` after a peak, 0 to 60, and recovers by two
  /// thirds within another `releaseSeconds`, at least a frame. A time outside of its range counts
  /// as the nearest time, and one that is not a number (NaN) as the shortest.
  public init(
    limit: Float, sampleRate: Int, holdSeconds: Double = 0.016, releaseSeconds: Double = 0.02
  ) {
    requirement(sampleRate > 0, "The sample rate of a limiter must be above 0.")
    clampedLimit = Self.clamped(limit)
    delayFrames = 0
    recovery = Float(1 / max(1, releaseSeconds * Double(sampleRate)))
    let hold = Self.hold(holdSeconds)
    recentPeak = SlidingPeak(
      blockFrames: hold > 0 ? max(1, Int(clamping: hold * Double(sampleRate) / 16)) : 0)
  }

  /// Creates a limiter at `limit`, where 1 is full scale, for sound of `channelCount` channels at
  /// `sampleRate` Hz, both above 0, with at most 1024 channels. It delays the sound by
  /// `lookAheadSeconds`, a frame to 0.1 s, to lower it before a peak. With `limitsTruePeak` it also
  /// limits the peak between the samples, as ITU-R BS.1770-5 measures it, and the delay is up to 13
  /// frames longer. Values out of range are treated as by the other initialiser.
  public init(
    limit: Float, sampleRate: Int, channelCount: Int, lookAheadSeconds: Double,
    limitsTruePeak: Bool = false, holdSeconds: Double = 0.016, releaseSeconds: Double = 0.02
  ) {
    requirement(sampleRate > 0, "The sample rate of a limiter must be above 0.")
    requirement(channelCount > 0, "The number of channels of a limiter must be above 0.")
    requirement(
      channelCount <= SampleBuffer.maximumChannels, "A limiter has at most 1024 channels.")
    clampedLimit = Self.clamped(limit)
    let seconds = lookAheadSeconds > 0 ? min(lookAheadSeconds, Self.maximumLookAheadSeconds) : 0
    let limiter = LookAheadLimiter(
      sampleRate: sampleRate, channelCount: channelCount,
      lookAheadFrames: max(1, Int(rounding: seconds * Double(sampleRate))),
      limitsTruePeak: limitsTruePeak, holdSeconds: Self.hold(holdSeconds),
      releaseSeconds: releaseSeconds)
    delayFrames = limiter.delayFrames
    lookAhead = consume limiter
    recovery = 0
    recentPeak = SlidingPeak(blockFrames: 0)
  }

  /// The longest look-ahead, in seconds.
  public static let maximumLookAheadSeconds = 0.1

  /// Returns `limit`, or 0 if it is negative or NaN.
  @_noLocks
  private static func clamped(_ limit: Float) -> Float { limit > 0 ? limit : 0 }

  /// Returns a hold time from 0 to 60 s; 0 for NaN.
  @_noLocks
  private static func hold(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 60) : 0 }

  /// Whether frames at or below the limit pass without being processed.
  var passesBelowLimit: Bool { @_noLocks get { gain == 1 && delayFrames == 0 } }

  /// The number of frames that share one rise of the gain: a common period, so that a cycle is one
  /// block.
  private static var blockFrames: Int { @_noLocks get { 64 } }

  /// Limits the first `frames` frames.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if passesBelowLimit && buffer.peakOrNaN(frames: frames) <= clampedLimit { return }
    processAll(&buffer, frames: frames)
  }

  /// Limits the first `frames` frames, also if all of them are at or below the limit.
  @_noLocks
  mutating func processAll(_ buffer: inout SampleBuffer, frames: Int) {
    if delayFrames > 0 { return processDelayed(&buffer, frames: frames) }
    var frame = 0
    while frame < frames {
      let count = min(frames &- frame, Self.blockFrames)
      processBlock(&buffer, from: frame, frames: count)
      frame &+= count
    }
  }

  /// Limits with a look-ahead.
  @_noLocks @inline(never)
  private mutating func processDelayed(_ buffer: inout SampleBuffer, frames: Int) {
    lookAhead?.process(&buffer, frames: frames, limit: clampedLimit, isHeld: isHeld)
    limitedFrames = lookAhead?.limitedFrames ?? 0
    silencedSamples = lookAhead?.silencedSamples ?? 0
    gain = lookAhead?.gain ?? 1
  }

  /// Limits the frames of one block.
  @_noLocks @inline(__always)
  private mutating func processBlock(_ buffer: inout SampleBuffer, from first: Int, frames: Int) {
    var block = LimiterGain(
      limit: clampedLimit, gain: gain, risingTo: target, by: recovery, isHeld: isHeld)
    var levels = buffer.limit(from: first, frames: frames, &block)
    if !levels.peak.isFinite {
      silencedSamples &+= buffer.silenceNonFinite(from: first, frames: frames)
      levels = buffer.limit(from: first, frames: frames, &block)
    }
    limitedFrames &+= levels.above
    (target, gain) = (block.target, block.gain)
    if recentPeak.add(levels.peak, frames: frames) {
      target = SlidingPeak.steadyGain(of: recentPeak.highest, limit: clampedLimit)
    }
  }
}

extension LimiterGain {
  /// Creates the gain of a limiter at `limit` before a block. It rises from `gain` towards `target`
  /// in each frame by the share `recovery` of their difference at the beginning of the block,
  /// unless it `isHeld`.
  @_noLocks
  init(limit: Float, gain: Float, risingTo target: Float, by recovery: Float, isHeld: Bool) {
    // The step is never below the resolution of a float, or the gain would never reach its target.
    let step =
      isHeld || gain >= target ? 0 : max((target - gain) * recovery, limiter_minimum_step)
    self.init(
      limit: limit, brought_to: limit * limiter_margin, step: step, target: target, gain: gain)
  }
}
