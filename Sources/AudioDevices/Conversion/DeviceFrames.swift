// Audio thread.
import AudioBasics
import CRealtime

/// A stretch of a device's own memory, in the device's own format: one piece, or two where its
/// ring buffer wraps.
///
/// Lent by a device between the start and the end of a cycle; it owns nothing.
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

  /// Copies `frames` frames, from `firstFrame` on, into `buffer` from its start on.
  @_noLocks
  func decode(from firstFrame: Int, frames: Int, into buffer: inout SampleBuffer, at target: Int) {
    precondition(buffer.channelCount == layout.channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame &+ frames <= frameCount)
    precondition(target >= 0 && target &+ frames <= buffer.frameCount)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = buffer.base + target &* layout.channelCount
    if inFirst > 0 {
      layout.decode(first + firstFrame &* layout.frameStride, frames: inFirst, into: base)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      layout.decode(
        second + start &* layout.frameStride, frames: frames &- inFirst,
        into: base + inFirst &* layout.channelCount)
    }
  }

  /// Copies `frames` frames of `buffer`, from `source` on, to `firstFrame` and after; returns how
  /// many samples were no number and were written as silence.
  @_noLocks
  func encode(
    _ buffer: borrowing SampleBuffer, from source: Int, frames: Int, at firstFrame: Int
  ) -> Int {
    precondition(buffer.channelCount == layout.channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame &+ frames <= frameCount)
    precondition(source >= 0 && source &+ frames <= buffer.frameCount)
    let inFirst = max(0, min(frames, firstCount &- firstFrame))
    let base = UnsafePointer(buffer.base) + source &* layout.channelCount
    var notNumbers = 0
    if inFirst > 0 {
      notNumbers = layout.encode(
        base, frames: inFirst, into: first + firstFrame &* layout.frameStride)
    }
    if inFirst < frames {
      let start = max(0, firstFrame &- firstCount)
      notNumbers &+= layout.encode(
        base + inFirst &* layout.channelCount, frames: frames &- inFirst,
        into: second + start &* layout.frameStride)
    }
    return notNumbers
  }

  /// Writes silence to `frames` frames from `firstFrame` on. Zero bytes, which every signed and
  /// float format reads as silence.
  @_noLocks
  func clear(from firstFrame: Int, frames: Int) {
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame &+ frames <= frameCount)
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
