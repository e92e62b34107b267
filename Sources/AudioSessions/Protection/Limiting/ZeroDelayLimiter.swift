// Audio thread.

import AudioBasics
import CVectors

/// A limiter without delay: the gain of a frame falls at once to that of its loudest channel. It
/// rises after a hold time. One thread uses a value at a time.
struct ZeroDelayLimiter: ~Copyable {
  /// The number of incoming frames above the limit so far.
  private(set) var limitedFrames = 0
  /// The number of incoming samples so far that were NaN or infinite, and became silence.
  private(set) var silencedSamples = 0

  /// The limit, the gain of the last frame, and the gain that is being approached.
  private var level: LimiterGain
  private let recovery: Float
  /// The highest peak of the hold time.
  private var recentPeak: SlidingPeak

  /// Creates a limiter at `limit`, at least 0, whose gain begins to rise `holdSeconds` after a peak
  /// and recovers by two thirds within another `releaseSeconds`.
  init(limit: Float, sampleRate: Int, holdSeconds: Double, releaseSeconds: Double) {
    level = LimiterGain(
      limit: limit, brought_to: limit * limiter_margin, step: 0, target: 1, gain: 1)
    recovery = Float(1 / max(1, releaseSeconds * Double(sampleRate)))
    let holdFrames = holdSeconds * Double(sampleRate)
    recentPeak = SlidingPeak(
      blockFrames: holdFrames > 0 ? max(1, Int(clamping: holdFrames / 16)) : 0)
  }

  /// The highest magnitude of a sample in the output; at least 0.
  var limit: Float {
    @_noLocks get { level.limit }
    @_noLocks set {
      level.limit = newValue
      level.brought_to = newValue * limiter_margin
    }
  }

  /// The gain of the last frame.
  var gain: Float { @_noLocks get { level.gain } }

  /// The number of frames that share one rise of the gain: a common period, so that a cycle is one
  /// block.
  private static var blockFrames: Int { @_noLocks get { 64 } }

  /// Limits the first `frames` frames of `buffer`. The gain does not rise if it `isHeld`.
  @_noLocks
  mutating func process(_ buffer: inout SampleBuffer, frames: Int, isHeld: Bool) {
    var frame = 0
    while frame < frames {
      let count = min(frames &- frame, Self.blockFrames)
      processBlock(&buffer, from: frame, frames: count, isHeld: isHeld)
      frame &+= count
    }
  }

  /// Limits the frames of one block.
  @_noLocks @inline(__always)
  private mutating func processBlock(
    _ buffer: inout SampleBuffer, from first: Int, frames: Int, isHeld: Bool
  ) {
    level.step = isHeld ? 0 : rise
    var block = buffer.limit(from: first, frames: frames, &level)
    if !block.peak.isFinite {
      silencedSamples &+= buffer.silenceNonFinite(from: first, frames: frames)
      block = buffer.limit(from: first, frames: frames, &level)
    }
    limitedFrames &+= block.above
    if recentPeak.add(block.peak, frames: frames) {
      level.target = SlidingPeak.steadyGain(of: recentPeak.highest, limit: level.limit)
    }
  }

  /// The increase of the gain per frame in the next block: a share of its difference to the target,
  /// but at least that of a difference of 1 %, 0.09 dB. The gain therefore reaches its target
  /// within the release time once it is that close.
  private var rise: Float {
    @_noLocks @inline(__always) get {
      let difference = level.target - level.gain
      guard difference > 0 else { return 0 }
      // The increase is never below the resolution of a float.
      return max(max(difference, 0.01 * level.target) * recovery, limiter_minimum_step)
    }
  }
}
