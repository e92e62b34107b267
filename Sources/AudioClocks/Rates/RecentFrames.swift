// Audio thread.
import AudioBasics

/// The last frames of a stream, stored by channel, so that any range of them is contiguous.
///
/// Every sample is written twice, one ring length apart: a range that crosses the end of the first
/// ring continues in the second. The cost is the same for each frame, and nothing is ever moved.
struct RecentFrames: ~Copyable, Sendable {
  /// Two rings for each channel, one after the other.
  private var rings: SampleBuffer
  private let ringFrames: Int
  /// The number of frames appended since the beginning.
  private(set) var count = 0

  /// Creates a ring that keeps at least the last `frames` frames. Silence precedes the first frame.
  /// Not on the audio thread.
  init(frames: Int, channelCount: Int) {
    var ringFrames = 16
    while ringFrames < frames { ringFrames *= 2 }
    self.ringFrames = ringFrames
    rings = SampleBuffer(frameCount: channelCount, channelCount: 2 * ringFrames)
  }

  /// Appends one frame of interleaved samples.
  @_noLocks
  mutating func append(_ frame: UnsafePointer<Float>) {
    var position = rings.base + (count & (ringFrames &- 1))
    var channel = 0
    while channel < rings.frameCount {
      position[0] = frame[channel]
      position[ringFrames] = frame[channel]
      position += 2 &* ringFrames
      channel &+= 1
    }
    count &+= 1
  }

  /// Appends `frames` frames of interleaved samples from `firstFrame` on, or silence if `source` is
  /// nil. `frames` is at most the number of frames kept.
  @_noLocks
  mutating func append(_ source: UnsafePointer<Float>?, from firstFrame: Int, frames: Int) {
    let channelCount = rings.frameCount
    var channel = 0
    while channel < channelCount {
      let ring = rings.base + 2 &* ringFrames &* channel
      var frame = 0
      while frame < frames {
        let position = ring + ((count &+ frame) & (ringFrames &- 1))
        let sample = source?[(firstFrame &+ frame) &* channelCount &+ channel] ?? 0
        position[0] = sample
        position[ringFrames] = sample
        frame &+= 1
      }
      channel &+= 1
    }
    count &+= frames
  }

  /// Appends the last frame `frames` times. `shorten` removes these frames again.
  @_noLocks
  mutating func holdLast(_ frames: Int) {
    var position = rings.base
    var channel = 0
    while channel < rings.frameCount {
      let last = position[(count &- 1) & (ringFrames &- 1)]
      var frame = 0
      while frame < frames {
        let offset = (count &+ frame) & (ringFrames &- 1)
        position[offset] = last
        position[offset &+ ringFrames] = last
        frame &+= 1
      }
      position += 2 &* ringFrames
      channel &+= 1
    }
    count &+= frames
  }

  /// Removes the last `frames` frames. The same number of the oldest frames is lost.
  @_noLocks
  mutating func shorten(_ frames: Int) {
    count &-= frames
  }

  /// Returns the samples of one channel from `frame` on, which must still be stored.
  @_noLocks
  private func samples(of channel: Int, from frame: Int) -> UnsafePointer<Float> {
    UnsafePointer(
      rings.base + (channel &* 2 &* ringFrames &+ (frame & (ringFrames &- 1))))
  }

  /// Writes one frame to `target`: for each channel the sum of `count` frames from `first` on,
  /// multiplied by `weights`, a `WeightRow`. `count` is a multiple of 8.
  @_noLocks
  func sum(
    _ weights: UnsafePointer<Float>, from first: Int, count: Int,
    into target: UnsafeMutablePointer<Float>
  ) {
    let channelCount = rings.frameCount
    var channel = 0
    while channel &+ 1 < channelCount {
      (target[channel], target[channel &+ 1]) = InnerProduct.sums(
        weights, samples(of: channel, from: first), samples(of: channel &+ 1, from: first),
        count: count)
      channel &+= 2
    }
    if channel < channelCount {
      target[channel] = InnerProduct.sum(weights, samples(of: channel, from: first), count: count)
    }
  }

  /// Restarts with silence.
  @_noLocks
  mutating func clear() {
    rings.clear(frames: rings.frameCount)
    count = 0
  }
}
