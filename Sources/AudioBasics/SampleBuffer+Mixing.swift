// Audio thread.

import CVectors

/// In-place mixing of frames; functions without a first frame process the first `frames` frames.
extension SampleBuffer {
  /// Sets the first `frames` frames to 0.
  @_noLocks
  public mutating func clear(frames: Int) {
    let count = sampleCount(of: frames)
    var index = 0
    while index < count {
      base[index] = 0
      index &+= 1
    }
  }

  /// Multiplies `frames` frames, starting at `firstFrame`, by `gain`.
  @_noLocks
  public mutating func scale(from firstFrame: Int = 0, frames: Int, by gain: Float) {
    requireFrames(from: firstFrame, frames)
    vectors_scale(base + firstFrame &* channelCount, gain, frames &* channelCount)
  }

  /// Multiplies the first `frames` frames by a gain that is `gain` in the first frame and increases
  /// by `step` per frame.
  @_noLocks
  public mutating func ramp(frames: Int, from gain: Float, step: Float) {
    ramp(from: 0, frames: frames, gain: gain, step: step)
  }

  /// Multiplies `frames` frames, starting at `first`, by a gain that is `gain` in the first frame
  /// and increases by `step` per frame.
  @_noLocks
  public mutating func ramp(from first: Int, frames: Int, gain: Float, step: Float) {
    requireFrames(from: first, frames)
    vectors_ramp(base + first &* channelCount, channelCount, frames, gain, step)
  }

  /// Multiplies `frames` frames, starting at `first`, by the gain of `limiter`, which rises
  /// linearly or decreases to the gain that a frame requires. Returns their peak and the number of
  /// frames above the limit. If the peak is NaN or infinite, the frames remain unchanged.
  @_noLocks
  package mutating func limit(
    from first: Int, frames: Int, _ limiter: inout LimiterGain
  ) -> LimitedBlock {
    requireFrames(from: first, frames)
    return vectors_limit_block(&limiter, base + first &* channelCount, channelCount, frames)
  }

  /// Multiplies the first channel of the first `frames` frames by `left` and the second by `right`.
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

  /// Adds the first `frames` frames of `other` sample by sample. `other` must have as many channels
  /// as this buffer.
  @_noLocks
  public mutating func add(_ other: borrowing SampleBuffer, frames: Int) {
    requirement(
      other.channelCount == channelCount && frames <= other.frameCount,
      "The two buffers need the same number of channels, and enough frames.")
    vectors_add(base, other.base, sampleCount(of: frames))
  }

  /// Copies `frames` frames of `other`, starting at `source`, to this buffer, starting at `target`.
  /// The same number of channels is copied one to one; one channel is copied to all; several become
  /// one as their mean; in other cases as many channels as both have are copied, and the others
  /// become silent.
  @_noLocks
  public mutating func copy(
    _ other: borrowing SampleBuffer, from source: Int = 0, at target: Int = 0, frames: Int
  ) {
    let theirs = other.channelCount
    if theirs == channelCount {
      return replace(at: target, with: other, from: source, frames: frames)
    }
    requireFrames(from: target, frames)
    other.requireFrames(from: source, frames)
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

  @_noLocks
  func sampleCount(of frames: Int) -> Int {
    requirement(
      frames >= 0 && frames <= frameCount,
      "The frames are outside of the buffer.")
    return frames &* channelCount
  }
}

/// Copying frames from one buffer to another, and clearing frames.
extension SampleBuffer {
  /// Copies `frames` frames of `other`, starting at `source`, to this buffer, starting at `target`.
  /// Both must have the same number of channels.
  @_noLocks
  public mutating func replace(
    at target: Int, with other: borrowing SampleBuffer, from source: Int, frames: Int
  ) {
    requirement(
      other.channelCount == channelCount, "The two buffers need the same number of channels.")
    requireFrames(from: target, frames)
    other.requireFrames(from: source, frames)
    vectors_copy(
      base + target &* channelCount, other.base + source &* channelCount,
      frames &* channelCount)
  }

  /// Sets `frames` frames, starting at `firstFrame`, to 0.
  @_noLocks
  public mutating func clear(from firstFrame: Int, frames: Int) {
    requireFrames(from: firstFrame, frames)
    let end = (firstFrame &+ frames) &* channelCount
    var index = firstFrame &* channelCount
    while index < end {
      base[index] = 0
      index &+= 1
    }
  }
}

extension SampleBuffer {
  /// Reverses the order of the first `frames` frames.
  @_noLocks
  public mutating func reverse(frames: Int) {
    requirement(
      frames >= 0 && frames <= frameCount,
      "The frames are outside of the buffer.")
    var low = 0
    var high = frames &- 1
    if channelCount == 2 {
      // A frame of two floats is exchanged as one 64-bit word.
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
