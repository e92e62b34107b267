// Audio thread.

import AudioBasics
import AudioLevels
import CVectors

/// A limiter that reduces the gain before a peak arrives, by delaying all frames. For the audio
/// thread; the initialiser allocates all memory.
///
/// The highest peak of a sliding window determines a gain, which is released slowly. Two moving
/// averages in series, together as long as the look-ahead, smooth this gain. Because the window is
/// longer than the averages, the smoothed gain has decreased to the gain that a peak requires when
/// the peak leaves the delay line (G. W. McNally, "Dynamic range control of digital audio signals",
/// J. Audio Eng. Soc. 32, 1984; D. Giannoulis, M. Massberg, J. D. Reiss, "Digital dynamic range
/// compressor design", 2012). The averages are exact, so that the gain returns to exactly one.
struct LookAheadLimiter: ~Copyable {
  /// The delay of the limiter in frames.
  let delayFrames: Int
  /// The number of incoming frames above the limit so far.
  private(set) var limitedFrames = 0
  /// The number of incoming samples so far that were NaN or infinite, and became silence.
  private(set) var silencedSamples = 0
  /// The gain of the last frame.
  private(set) var gain: Float = 1

  private var line: SampleBuffer
  private var position = 0
  private var firstAverage: MovingAverage
  private var secondAverage: MovingAverage
  private var truePeaks: TruePeaks?
  private let recovery: Float
  /// The gain that the highest peak of the window requires, and the same with a slow release.
  private var target: Float = 1
  private var released: Float = 1
  /// The highest peak of the frames in the delay line and of the hold time before them.
  private var recentPeak: SlidingPeak

  /// Creates a limiter with a look-ahead of `lookAheadFrames` frames, and a few more if it limits
  /// the true peak.
  init(
    sampleRate: Int, channelCount: Int, lookAheadFrames: Int, limitsTruePeak: Bool,
    holdSeconds: Double, releaseSeconds: Double
  ) {
    var filterFrames = 0
    if limitsTruePeak {
      let meter = TruePeaks(sampleRate: sampleRate, channelCount: channelCount)
      filterFrames = meter.delayFrames
      truePeaks = consume meter
    }
    delayFrames = lookAheadFrames + filterFrames
    line = SampleBuffer(frameCount: delayFrames, channelCount: channelCount)
    firstAverage = MovingAverage(of: 1, frameCount: lookAheadFrames / 2 + 1)
    secondAverage = MovingAverage(of: 1, frameCount: lookAheadFrames - lookAheadFrames / 2 + 1)
    let hold = Int(clamping: max(0, holdSeconds) * Double(sampleRate))
    recentPeak = SlidingPeak(blockFrames: (delayFrames + 1 + hold) / 15 + 1)
    recovery = Float(1 / max(1, releaseSeconds * Double(sampleRate)))
  }

  /// Replaces the first `frames` frames by the frames `delayFrames` earlier, limited to `limit`.
  /// The gain does not rise while it `isHeld`.
  @_noLocks
  mutating func process(
    _ buffer: inout SampleBuffer, frames: Int, limit: Float, isHeld: Bool
  ) {
    requirement(
      buffer.channelCount == line.channelCount,
      "The buffer and the limiter must have the same number of channels.")
    buffer.requireFrames(from: 0, frames)
    var frame = 0
    while frame < frames {
      let count = min(16, min(frames &- frame, recentPeak.blockFrames &- recentPeak.filled))
      let peak = peak(of: &buffer, from: frame, frames: count, limit: limit)
      // If all gains in the averages are one, the frames are only delayed.
      let isIdle =
        target == 1 && released == 1 && firstAverage.sum == firstAverage.fullSum
        && secondAverage.sum == secondAverage.fullSum
      var next = frame
      frame &+= count
      while next < frame {
        exchange(&buffer, next)
        if !isIdle {
          advance(isHeld: isHeld)
          buffer.scale(frame: next, by: gain, within: limit)
        }
        next &+= 1
      }
      if recentPeak.add(peak, frames: count) { target = recentPeak.gain(limit: limit) }
    }
  }

  /// Returns the peak of incoming frames, whose samples that are NaN or infinite become silence.
  /// Lowers the target gain to the gain that this peak requires.
  @_noLocks
  private mutating func peak(
    of buffer: inout SampleBuffer, from first: Int, frames: Int, limit: Float
  ) -> Float {
    var peak = buffer.finitePeak(from: first, frames: frames, silenced: &silencedSamples)
    if peak > limit { limitedFrames &+= buffer.framesAbove(limit, from: first, frames: frames) }
    if truePeaks != nil {
      truePeaks?.restart(at: max(limit, peak))
      truePeaks?.add(buffer, from: first, frames: frames)
      peak = truePeaks?.highest ?? peak
    }
    if peak > limit { target = min(target, SlidingPeak.gain(of: peak, limit: limit)) }
    return peak
  }

  /// Computes the gain of the next frame.
  @_noLocks
  private mutating func advance(isHeld: Bool) {
    if released > target {
      released = target
    } else if released < target && !isHeld {
      released = min(
        target, released + max((target - released) * recovery, limiter_minimum_step))
    }
    gain = secondAverage.add(firstAverage.add(released))
  }

  /// Exchanges the oldest frame of the delay line and the frame `frame` of the buffer.
  @_noLocks
  private mutating func exchange(_ buffer: inout SampleBuffer, _ frame: Int) {
    let channelCount = line.channelCount
    var channel = 0
    while channel < channelCount {
      let delayed = line[position &* channelCount &+ channel]
      line[position &* channelCount &+ channel] = buffer[frame &* channelCount &+ channel]
      buffer[frame &* channelCount &+ channel] = delayed
      channel &+= 1
    }
    position = position &+ 1 == delayFrames ? 0 : position &+ 1
  }
}

/// The mean of the last values between 0 and 1. Values are stored as multiples of 2^-23, so that
/// their sum is exact and does not drift. The initialiser allocates all memory.
struct MovingAverage: ~Copyable {
  private var values: SampleBuffer
  private var position = 0
  /// The sum of the last values, and the sum if all of them were one.
  private(set) var sum: Double
  let fullSum: Double
  private let reciprocal: Double

  /// Creates an average of `frameCount` values, all of which are `value` at first.
  init(of value: Float, frameCount: Int) {
    values = SampleBuffer(frameCount: frameCount, channelCount: 1)
    for index in 0..<frameCount { values[index] = value }
    fullSum = Double(frameCount)
    sum = fullSum * Double(value)
    reciprocal = 1 / fullSum
  }

  /// Replaces the oldest value by `value` and returns the average.
  @_noLocks
  mutating func add(_ value: Float) -> Float {
    // Numbers from 1 to 2 are multiples of 2^-23 in single precision.
    let rounded = (value + 1) - 1
    sum += Double(rounded) - Double(values[position])
    values[position] = rounded
    position = position &+ 1 == values.frameCount ? 0 : position &+ 1
    return Float(sum * reciprocal)
  }
}
