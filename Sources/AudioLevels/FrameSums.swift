// Audio thread.

import AudioBasics
import CVectors

/// The sums of the channels of every n-th frame of a sound, kept until filters process them.
package struct FrameSums: ~Copyable, Sendable {
  /// The sums; the first `count` of them are waiting.
  package private(set) var samples: SampleBuffer
  package private(set) var count = 0
  private let stride: Int
  /// The number of frames until the next sum.
  private var skip = 0

  /// Creates sums of every `stride`-th frame, at least 1, with room for those of `frameCount`
  /// frames.
  package init(stride: Int, frameCount: Int) {
    self.stride = stride
    samples = SampleBuffer(frameCount: frameCount / stride + 1, channelCount: 1)
  }

  /// Adds the sums of `frames` frames of `buffer`, starting at `first`, unless all of these frames
  /// are below the magnitude `silence`. Returns the highest magnitude of the frames; NaN is
  /// ignored.
  @_noLocks
  package mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int, frames: Int, silence: Float = 0
  ) -> Float {
    guard hasWholeGroups(buffer, from: first, frames: frames) else {
      return addGroupsAndRest(of: buffer, from: first, frames: frames, silence: silence)
    }
    let channels = buffer.channelCount
    let start = buffer.base + first &* channels
    let peak = vectors_sum_and_measure(samples.base + count, start, channels, frames &>> 1)
    if peak >= silence { count &+= frames &>> 1 }
    return peak
  }

  /// Adds the sums of these frames without measuring the frames.
  @_noLocks
  package mutating func addUnmeasured(
    _ buffer: borrowing SampleBuffer, from first: Int, frames: Int
  ) {
    guard hasWholeGroups(buffer, from: first, frames: frames) else {
      _ = addGroupsAndRest(of: buffer, from: first, frames: frames, silence: 0)
      return
    }
    let channels = buffer.channelCount
    let start = buffer.base + first &* channels
    vectors_sum_every_other(samples.base + count, start, channels, frames &>> 1)
    count &+= frames &>> 1
  }

  /// Adds the sums of these frames, and those of the frames half-way between them to `between`,
  /// without measuring the frames.
  @_noLocks
  package mutating func addUnmeasured(
    _ buffer: borrowing SampleBuffer, from first: Int, frames: Int, between: inout FrameSums
  ) {
    let room = between.samples.frameCount &- between.count
    guard hasWholeGroups(buffer, from: first, frames: frames), between.skip == 1,
      between.stride == 2, frames &>> 1 <= room
    else {
      addUnmeasured(buffer, from: first, frames: frames)
      between.addUnmeasured(buffer, from: first, frames: frames)
      return
    }
    let channels = buffer.channelCount
    vectors_sum_alternately(
      samples.base + count, between.samples.base + between.count,
      buffer.base + first &* channels, channels, frames &>> 1)
    count &+= frames &>> 1
    between.count &+= frames &>> 1
  }

  /// Returns whether there is room for the sums of these frames, and they are whole groups of 16
  /// frames, the first of which has a sum, as in most cycles.
  @_noLocks @inline(__always)
  private func hasWholeGroups(
    _ buffer: borrowing SampleBuffer, from first: Int, frames: Int
  ) -> Bool {
    buffer.requireFrames(from: first, frames)
    let channels = buffer.channelCount
    return skip == 0 && stride == 2 && frames & 15 == 0 && (channels == 2 || channels == 1)
      && frames &>> 1 <= samples.frameCount &- count
  }

  /// Adds any number of frames with any number of channels: in groups of 16 frames if possible, the
  /// rest one by one.
  @_noLocks @inline(never)
  private mutating func addGroupsAndRest(
    of buffer: borrowing SampleBuffer, from first: Int, frames: Int, silence: Float
  ) -> Float {
    requirement(
      frames &- skip <= (samples.frameCount &- count) &* stride,
      "There are more sums than the filters process.")
    var (added, peak): (Int, Float) = (0, 0)
    let channels = buffer.channelCount
    if stride == 2 && (channels == 2 || channels == 1) && skip &+ 16 <= frames {
      added = (frames &- skip) &>> 1 & ~7
      let start = buffer.base + (first &+ skip) &* channels
      peak = vectors_sum_and_measure(samples.base + count, start, channels, added)
    }
    if skip > 0 || 2 &* added < frames {
      let rest = addRest(of: buffer, from: first, frames: frames, behind: added)
      (added, peak) = (added &+ rest.added, max(peak, rest.peak))
    }
    if peak >= silence {
      count &+= added
      skip = skip &+ added &* stride &- frames
    }
    return peak
  }

  /// Writes the sums behind the first `done` of these frames one by one. Returns their number, and
  /// the highest magnitude of the frames before the first sum and of those from the first of these
  /// sums on.
  @_noLocks @inline(never)
  private mutating func addRest(
    of buffer: borrowing SampleBuffer, from first: Int, frames: Int, behind done: Int
  ) -> (added: Int, peak: Float) {
    let channels = buffer.channelCount
    guard channels > 0 else { return (0, 0) }
    let start = buffer.base + first &* channels
    let (early, late) = (min(skip, frames), min(skip &+ done &* stride, frames))
    let peak = max(
      vectors_peak(start, early &* channels),
      vectors_peak(start + late &* channels, (frames &- late) &* channels))
    var (frame, added) = (skip &+ done &* stride, 0)
    while frame < frames {
      let samples = start + frame &* channels
      var (sum, channel) = (samples[0], 1)
      while channel < channels {
        sum += samples[channel]
        channel &+= 1
      }
      self.samples.base[count &+ done &+ added] = sum
      frame &+= stride
      added &+= 1
    }
    return (added, peak)
  }

  /// Removes all sums, which are processed.
  @_noLocks
  package mutating func removeAll() { count = 0 }

  /// Removes all sums, and continues half-way between the frames of `other`.
  @_noLocks
  package mutating func begin(between other: borrowing FrameSums) {
    count = 0
    skip = other.skip &+ stride / 2
  }
}
