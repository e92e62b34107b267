// Audio thread.
import AudioBasics

/// The frames that were read from an input and are not converted yet: a range of a buffer.
struct StagedFrames: ~Copyable {
  private(set) var buffer: SampleBuffer
  /// The index in the buffer of the oldest frame.
  private(set) var first = 0
  private(set) var count = 0
  /// The position on the input's clock of the oldest frame.
  private(set) var position = 0

  /// Creates a buffer of `frameCount` frames, all of them free.
  init(frameCount: Int, channelCount: Int) {
    buffer = SampleBuffer(frameCount: frameCount, channelCount: channelCount)
  }

  /// Replaces the frames by the first `frames` frames of `lent`, which begin at `position`.
  @_noLocks @inline(__always)
  mutating func fill(from lent: DeviceFrames, frames: Int, at position: Int) {
    lent.decode(from: 0, frames: frames, into: &buffer, at: 0)
    self.position = position
    first = 0
    count = frames
  }

  /// Removes the oldest `frames` frames.
  @_noLocks
  mutating func remove(_ frames: Int) {
    first += frames
    position += frames
    count -= frames
  }

  /// Removes all frames.
  @_noLocks
  mutating func removeAll() { count = 0 }
}
