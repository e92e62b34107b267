// Audio thread.

import CVectors

/// Mixing operations on frames, in place; on the first `frames` frames where no first is named.
extension SampleBuffer {
  /// Silence.
  @_noLocks
  public mutating func clear(frames: Int) {
    let count = sampleCount(of: frames)
    var index = 0
    while index < count {
      base[index] = 0
      index &+= 1
    }
  }

  /// Multiplies `frames` frames from `firstFrame` on by `gain`.
  @_noLocks
  public mutating func scale(from firstFrame: Int = 0, frames: Int, by gain: Float) {
    requirement(firstFrame >= 0, "The frames are outside of the buffer.")
    let end = sampleCount(of: firstFrame &+ frames)
    let start = firstFrame &* channelCount
    vectors_scale(base + start, gain, end &- start)
  }

  /// Multiplies the first frame by `gain` and each further one by `step` more.
  @_noLocks
  public mutating func ramp(frames: Int, from gain: Float, step: Float) {
    ramp(from: 0, frames: frames, gain: gain, step: step)
  }

  /// Multiplies the frame `first` by `gain` and each of the `frames` from there on by `step` more.
  @_noLocks
  public mutating func ramp(from first: Int, frames: Int, gain: Float, step: Float) {
    requireFrames(from: first, frames)
    vectors_ramp(base + first &* channelCount, channelCount, frames, gain, step)
  }

  /// Multiplies each of `frames` frames from `first` on by the gain of `limiter`, which falls to
  /// what the frame takes. Returns how many of them were above the limit.
  @_noLocks
  package mutating func limit(from first: Int, frames: Int, _ limiter: inout LimiterGain) -> Int {
    requireFrames(from: first, frames)
    return vectors_limit(&limiter, base + first &* channelCount, channelCount, frames)
  }

  /// Multiplies the first channel of the first frames by `left` and the second by `right`.
  @_noLocks
  public mutating func balance(frames: Int, left: Float, right: Float) {
    requirement(
      channelCount > 1 && frames >= 0 && frames <= frameCount,
      "Balance needs two channels, and frames within the buffer.")
    var index = 0
    while index < frames &* channelCount {
      base[index] *= left
      base[index &+ 1] *= right
      index &+= channelCount
    }
  }

  /// Adds `other`, sample by sample. It must have as many channels.
  @_noLocks
  public mutating func add(_ other: borrowing SampleBuffer, frames: Int) {
    requirement(
      other.channelCount == channelCount && frames <= other.frameCount,
      "The two buffers need the same number of channels, and enough frames.")
    vectors_add(base, other.base, sampleCount(of: frames))
  }

  /// Copies `frames` frames of `other`, from `source` on, to `target` and after, its channels
  /// mapped to ours: the same number one to one, one to all, many to one as their mean, else as
  /// many as both have and silence on the rest.
  @_noLocks
  public mutating func copy(
    _ other: borrowing SampleBuffer, from source: Int = 0, at target: Int = 0, frames: Int
  ) {
    let theirs = other.channelCount
    if theirs == channelCount {
      return replace(at: target, with: other, from: source, frames: frames)
    }
    requirement(
      frames >= 0 && target >= 0 && source >= 0,
      "The frames are outside of the buffer.")
    requirement(
      target &+ frames <= frameCount && source &+ frames <= other.frameCount,
      "The frames are outside of the buffer.")
    let share = 1 / Float(max(1, theirs))
    var from = other.base + source &* theirs
    var to = base + target &* channelCount
    let end = to + frames &* channelCount
    while to < end {
      if channelCount == 1 {
        var sum: Float = 0
        var channel = 0
        while channel < theirs {
          sum += from[channel]
          channel &+= 1
        }
        to[0] = sum * share
      } else {
        var channel = 0
        while channel < channelCount {
          to[channel] = theirs == 1 ? from[0] : channel < theirs ? from[channel] : 0
          channel &+= 1
        }
      }
      from += theirs
      to += channelCount
    }
  }

  /// Writes the sums of the channels of every `stride`-th frame of `other` from `first` on, up to
  /// `stop`, from the sample `target` on, where there is room for one of each frame. Returns how
  /// many there are.
  @_noLocks
  package mutating func replace(
    at target: Int, withSumsOf other: borrowing SampleBuffer, apart stride: Int, from first: Int,
    to stop: Int
  ) -> Int {
    guard first < stop else { return 0 }
    requirement(
      first >= 0 && stop <= other.frameCount && stride > 0 && other.channelCount > 0,
      "The frames are outside of the buffer.")
    requirement(
      target >= 0 && target <= sampleCount &- (stop &- first),
      "The frames are outside of the buffer.")
    return vectors_sum_channels(
      base + target, other.base, other.channelCount, stride, first, stop)
  }

  @_noLocks
  func sampleCount(of frames: Int) -> Int {
    requirement(
      frames >= 0 && frames <= frameCount,
      "The frames are outside of the buffer.")
    return frames &* channelCount
  }
}

/// Moving frames from one buffer to another.
extension SampleBuffer {
  /// Copies `frames` frames of `other`, from `source` on, to `target` and after. Both have the same
  /// channels.
  @_noLocks
  public mutating func replace(
    at target: Int, with other: borrowing SampleBuffer, from source: Int, frames: Int
  ) {
    requirement(
      other.channelCount == channelCount && frames >= 0 && target >= 0 && source >= 0,
      "The two buffers need the same number of channels, and enough frames.")
    requirement(
      target &+ frames <= frameCount && source &+ frames <= other.frameCount,
      "The frames are outside of the buffer.")
    vectors_copy(
      base + target &* channelCount, other.base + source &* channelCount,
      frames &* channelCount)
  }

  /// Silence in `frames` frames from `firstFrame` on.
  @_noLocks
  public mutating func clear(from firstFrame: Int, frames: Int) {
    requirement(firstFrame >= 0, "The frames are outside of the buffer.")
    let end = sampleCount(of: firstFrame &+ frames)
    var index = firstFrame &* channelCount
    while index < end {
      base[index] = 0
      index &+= 1
    }
  }
}

extension SampleBuffer {
  /// Turns the first `frames` frames round: the last becomes the first.
  @_noLocks
  public mutating func reverse(frames: Int) {
    requirement(
      frames >= 0 && frames <= frameCount,
      "The frames are outside of the buffer.")
    var low = 0
    var high = frames &- 1
    if channelCount == 2 {
      // A frame at once.
      let whole = UnsafeMutableRawPointer(base).assumingMemoryBound(to: UInt64.self)
      while low < high {
        (whole[low], whole[high]) = (whole[high], whole[low])
        low &+= 1
        high &-= 1
      }
    }
    while low < high {
      var channel = 0
      while channel < channelCount {
        let kept = base[low &* channelCount &+ channel]
        base[low &* channelCount &+ channel] = base[high &* channelCount &+ channel]
        base[high &* channelCount &+ channel] = kept
        channel &+= 1
      }
      low &+= 1
      high &-= 1
    }
  }
}
