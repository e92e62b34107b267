// Audio thread.

import AudioBasics
import AudioLevels
import CVectors

/// Keeps samples at or below a limit: without looking ahead and so without delay, or with a
/// look-ahead, which delays all frames by `delayFrames` and lowers them smoothly before a peak
/// comes. For the audio thread; a value belongs to one thread at a time.
///
/// The gain of a frame falls at once to that of its loudest channel, g = limit / peak. It rises
/// only to the gain that the highest peak of the hold time takes, with g += (target - g) / (release
/// x rate): as long as the hold time is half a period of the lowest note, the gain of a steady tone
/// stands still from crest to crest and adds no harmonics, and it is back soon after a peak that
/// was short. All channels share the gain, so that nothing moves from left to right. Frames below
/// the limit pass as they are, bit for bit, once the gain is back at one.
///
/// ```swift
/// var limiter = Limiter(limit: 0.5, sampleRate: 48000)
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
/// for frame in 0..<64 { buffer[frame] = 2 }
/// limiter.process(&buffer, frames: 64)
/// precondition(buffer[63] <= 0.5 && limiter.limitedFrames == 64)
/// ```
public struct Limiter: ~Copyable {
  /// The highest magnitude let through; may be changed at any time.
  public var limit: Float
  /// Frames by which it delays the sound: 0 without a look-ahead.
  public let delayFrames: Int
  /// Frames so far that came in above the limit.
  public private(set) var limitedFrames = 0
  /// Keeps the gain from rising, for as long as a probe measures what a change of level does.
  public var isHeld = false
  /// The gain of the last frame. With a look-ahead never quite one, since no frame passes at once.
  public private(set) var gain: Float = 1

  private var lookAhead: LookAheadLimiter?
  private let recovery: Float
  /// The highest peak of the hold time; without blocks for a gain that is never held.
  private var recentPeak: SlidingPeak
  /// The gain that is being approached.
  private var target: Float = 1

  /// A limit at `limit`, 1 being full scale. `holdSeconds` after a peak the gain begins to rise,
  /// and is two thirds of the way back after another `releaseSeconds`.
  public init(
    limit: Float, sampleRate: Int, holdSeconds: Double = 0.016, releaseSeconds: Double = 0.02
  ) {
    self.limit = limit
    delayFrames = 0
    recovery = Float(1 / max(1, releaseSeconds * Double(sampleRate)))
    recentPeak = SlidingPeak(
      blockFrames: holdSeconds > 0
        ? max(1, Int(clamping: holdSeconds * Double(sampleRate) / 16)) : 0)
  }

  /// A limit at `limit`, 1 being full scale, for sound of `channelCount` channels that it delays by
  /// `lookAheadSeconds`, 0.1 ms to 0.1 s, to lower it before a peak comes. With `limitsTruePeak` it
  /// holds the peak between the samples, too, as ITU-R BS.1770-5 measures it, and the delay is up
  /// to 13 frames longer.
  public init(
    limit: Float, sampleRate: Int, channelCount: Int, lookAheadSeconds: Double,
    limitsTruePeak: Bool = false, holdSeconds: Double = 0.016, releaseSeconds: Double = 0.02
  ) {
    self.limit = limit
    gain = Self.delayedUnity
    let seconds = lookAheadSeconds > 0 ? min(lookAheadSeconds, Self.longestLookAhead) : 0
    let limiter = LookAheadLimiter(
      sampleRate: sampleRate, channelCount: channelCount,
      lookAheadFrames: max(1, Int(rounding: seconds * Double(sampleRate))),
      limitsTruePeak: limitsTruePeak, holdSeconds: holdSeconds, releaseSeconds: releaseSeconds)
    delayFrames = limiter.delayFrames
    lookAhead = consume limiter
    recovery = 0
    recentPeak = SlidingPeak(blockFrames: 0)
  }

  /// The number before 1.
  private static var delayedUnity: Float { @_noLocks get { 0.999_999_94 } }

  /// The longest look-ahead, in seconds.
  public static let longestLookAhead = 0.1

  /// Limits the first `frames` frames.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if gain == 1 && buffer.peak(frames: frames) <= limit { return }
    if recentPeak.blockFrames == 0 { return processUnheld(&buffer, frames: frames) }
    var frame = 0
    while frame < frames {
      let count = min(frames &- frame, recentPeak.blockFrames &- recentPeak.filled)
      processBlock(&buffer, from: frame, frames: count)
      frame &+= count
    }
  }

  /// Limits with a look-ahead, or with a gain that is never held.
  @_noLocks @inline(never)
  private mutating func processUnheld(_ buffer: inout SampleBuffer, frames: Int) {
    guard lookAhead == nil else {
      lookAhead?.process(&buffer, frames: frames, limit: limit, isHeld: isHeld)
      limitedFrames = lookAhead?.limitedFrames ?? 0
      gain = min(lookAhead?.gain ?? 1, Self.delayedUnity)
      return
    }
    var frame = 0
    while frame < frames {
      let count = min(frames &- frame, 64)
      processBlock(&buffer, from: frame, frames: count)
      frame &+= count
    }
  }

  /// Limits frames of one block.
  @_noLocks
  private mutating func processBlock(_ buffer: inout SampleBuffer, from first: Int, frames: Int) {
    let peak = buffer.peak(from: first, frames: frames)
    // Never less than a float can tell, or the gain would never reach its target.
    let step = isHeld || gain >= target ? 0 : max((target - gain) * recovery, SlidingPeak.leastStep)
    let last = step > 0 ? min(target, gain + step * Float(frames)) : gain
    if peak * last > limit * 0.999_999_5 {
      limitFrames(&buffer, from: first, frames: frames, step: step)
    } else {
      if peak > limit { limitedFrames &+= buffer.framesAbove(limit, from: first, frames: frames) }
      if last != gain {
        buffer.ramp(from: first, frames: frames, gain: gain, step: (last - gain) / Float(frames))
        gain = last
      } else if gain != 1 {
        buffer.scale(from: first, frames: frames, by: gain)
      }
    }
    if recentPeak.add(peak, frames: frames) { target = recentPeak.gain(limit: limit) }
  }

  /// Frame by frame, where a peak takes a lower gain than there is.
  @_noLocks @inline(never)
  private mutating func limitFrames(
    _ buffer: inout SampleBuffer, from first: Int, frames: Int, step: Float
  ) {
    var falling = LimiterGain(
      limit: limit, brought_to: limit * SlidingPeak.margin, step: step, target: target, gain: gain)
    limitedFrames &+= buffer.limit(from: first, frames: frames, &falling)
    (target, gain) = (falling.target, falling.gain)
  }
}
