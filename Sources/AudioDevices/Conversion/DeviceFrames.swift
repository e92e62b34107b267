// Audio thread.

import AudioBasics

/// A part of a device's own memory, in the device's own format: one piece, or two if its ring
/// buffer wraps. Audio thread.
///
/// A device lends it between the start and the end of a cycle. It owns no memory.
public struct DeviceFrames: BitwiseCopyable {
  var first: UnsafeMutableRawPointer
  var second: UnsafeMutableRawPointer
  var firstCount: Int
  var frameCount: Int
  let layout: DeviceLayout

  @_noLocks
  init(
    first: UnsafeMutableRawPointer, second: UnsafeMutableRawPointer, firstCount: Int,
    frameCount: Int, layout: DeviceLayout
  ) {
    self.first = first
    self.second = second
    self.firstCount = firstCount
    self.frameCount = frameCount
    self.layout = layout
  }

  /// Ends the program with a sentence unless `frames` frames are here, from `firstFrame` on, and in
  /// `buffer`, from `place` on, with the same channels.
  @_noLocks
  @inline(__always)
  private func requireFrames(
    _ frames: Int, from firstFrame: Int, _ buffer: borrowing SampleBuffer, at place: Int
  ) {
    requirement(
      buffer.channelCount == layout.channelCount,
      "The buffer must have the number of channels that the device was opened with.")
    requirement(
      firstFrame >= 0 && frames >= 0 && firstFrame <= frameCount &- frames,
      "The frames are outside of the buffer.")
    requirement(
      place >= 0 && place <= buffer.frameCount &- frames,
      "The buffer is shorter than the cycle: it needs periodFrames of the configuration.")
  }

  /// Copies `frames` frames, from `firstFrame` on, into `buffer`, from its frame `target` on.
  /// Returns their highest magnitude if `measures` is true and the conversion finds it; otherwise
  /// infinity.
  @_noLocks @discardableResult
  func decode(
    from firstFrame: Int, frames: Int, into buffer: inout SampleBuffer, at target: Int,
    measures: Bool = false
  ) -> Float {
    requireFrames(frames, from: firstFrame, buffer, at: target)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = buffer.base + target &* layout.channelCount
    var peak: Float = 0
    if inFirst > 0 {
      peak = layout.decode(
        first + firstFrame &* layout.frameStride, frames: inFirst, into: base, measures: measures)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      let rest = layout.decode(
        second + start &* layout.frameStride, frames: frames &- inFirst,
        into: base + inFirst &* layout.channelCount, measures: measures)
      peak = max(peak, rest)
    }
    return peak
  }

  /// Copies `frames` frames of `buffer`, from `source` on, to `firstFrame` and after. Returns the
  /// number of samples that were not a number (NaN) and were written as silence.
  @_noLocks
  func encode(
    _ buffer: borrowing SampleBuffer, from source: Int, frames: Int, at firstFrame: Int
  ) -> Int {
    requireFrames(frames, from: firstFrame, buffer, at: source)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = UnsafePointer(buffer.base) + source &* layout.channelCount
    var nanCount = 0
    if inFirst > 0 {
      nanCount = layout.encode(
        base, frames: inFirst, into: first + firstFrame &* layout.frameStride)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      nanCount &+= layout.encode(
        base + inFirst &* layout.channelCount, frames: frames &- inFirst,
        into: second + start &* layout.frameStride)
    }
    return nanCount
  }

  /// Writes silence to `frames` frames from `firstFrame` on. Zero bytes are silence in every signed
  /// and float format.
  @_noLocks
  func clear(from firstFrame: Int, frames: Int) {
    requirement(
      firstFrame >= 0 && frames >= 0 && firstFrame <= frameCount &- frames,
      "The frames are outside of the buffer.")
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    if inFirst > 0 {
      layout.clear(first + firstFrame &* layout.frameStride, frames: inFirst)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      layout.clear(second + start &* layout.frameStride, frames: frames &- inFirst)
    }
  }
}
