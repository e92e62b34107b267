// Audio thread.

import AudioBasics

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
    @_noLocks get { zeroDelay.limit }
    @_noLocks set { zeroDelay.limit = Self.clamped(newValue) }
  }
  /// The number of frames by which the limiter delays the sound: 0 without a look-ahead.
  public let delayFrames: Int
  /// The number of input frames above the limit so far.
  public private(set) var limitedFrames = 0
  /// The number of input samples so far that were NaN or infinite, and became silence.
  public private(set) var silencedSamples = 0
  /// The gain of the last frame.
  public private(set) var gain: Float = 1
  /// Whether the gain must not rise, while the effect of a perturbation is measured.
  public var isHeld = false

  /// The limiter that processes without look-ahead, and knows the limit with one, too.
  private var zeroDelay: ZeroDelayLimiter
  private var lookAhead: LookAheadLimiter?

  /// Creates a limiter at `limit`, where 1 is full scale, for sound of `sampleRate` Hz, which must
  /// be above 0. The gain begins to rise `holdSeconds` after a peak, 0 to 60, and recovers by two
  /// thirds within another `releaseSeconds`, at least a frame. A time outside of its range counts
  /// as the nearest time, and one that is not a number (NaN) as the shortest.
  public init(
    limit: Float, sampleRate: Int, holdSeconds: Double = 0.016, releaseSeconds: Double = 0.02
  ) {
    requirement(sampleRate > 0, "The sample rate of a limiter must be above 0.")
    zeroDelay = ZeroDelayLimiter(
      limit: Self.clamped(limit), sampleRate: sampleRate, holdSeconds: Self.hold(holdSeconds),
      releaseSeconds: releaseSeconds)
    delayFrames = 0
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
    zeroDelay = ZeroDelayLimiter(
      limit: Self.clamped(limit), sampleRate: sampleRate, holdSeconds: 0, releaseSeconds: 0)
    let seconds = lookAheadSeconds > 0 ? min(lookAheadSeconds, Self.maximumLookAheadSeconds) : 0
    let limiter = LookAheadLimiter(
      sampleRate: sampleRate, channelCount: channelCount,
      lookAheadFrames: max(1, Int(rounding: seconds * Double(sampleRate))),
      limitsTruePeak: limitsTruePeak, holdSeconds: Self.hold(holdSeconds),
      releaseSeconds: releaseSeconds)
    delayFrames = limiter.delayFrames
    lookAhead = consume limiter
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
  var passesBelowLimit: Bool { @_noLocks get { delayFrames == 0 && gain == 1 } }

  /// Limits the first `frames` frames.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if passesBelowLimit && buffer.peakOrNaN(frames: frames) <= limit { return }
    processAll(&buffer, frames: frames)
  }

  /// Limits the first `frames` frames, also if all of them are at or below the limit.
  @_noLocks
  mutating func processAll(_ buffer: inout SampleBuffer, frames: Int) {
    if delayFrames > 0 { return processDelayed(&buffer, frames: frames) }
    zeroDelay.process(&buffer, frames: frames, isHeld: isHeld)
    limitedFrames = zeroDelay.limitedFrames
    silencedSamples = zeroDelay.silencedSamples
    gain = zeroDelay.gain
  }

  /// Limits with a look-ahead.
  @_noLocks @inline(never)
  private mutating func processDelayed(_ buffer: inout SampleBuffer, frames: Int) {
    let limit = limit
    lookAhead?.process(&buffer, frames: frames, limit: limit, isHeld: isHeld)
    limitedFrames = lookAhead?.limitedFrames ?? 0
    silencedSamples = lookAhead?.silencedSamples ?? 0
    gain = lookAhead?.gain ?? 1
  }
}
