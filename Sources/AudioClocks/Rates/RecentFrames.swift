// Audio thread.
import AudioBasics

/// The last frames of a stream, channel by channel, so that any stretch of them lies in one piece.
///
/// Every sample is written twice, a ring's length apart: where a stretch runs over the end of the
/// first ring it goes on in the second. That costs the same for each frame; nothing is ever moved.
struct RecentFrames: ~Copyable, Sendable {
  /// Two rings for each channel, one behind the other.
  private var rings: SampleBuffer
  private let ringFrames: Int
  /// Frames given since the beginning.
  private(set) var count = 0

  /// Keeps at least the last `frames` frames; silence lies before the first. Not on the audio
  /// thread.
  init(frames: Int, channelCount: Int) {
    var ringFrames = 16
    while ringFrames < frames { ringFrames *= 2 }
    self.ringFrames = ringFrames
    rings = SampleBuffer(frameCount: channelCount, channelCount: 2 * ringFrames)
  }

  /// Adds one frame of interleaved samples.
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

  /// Adds `frames` frames of interleaved samples from `firstFrame` on, at most as many as are kept;
  /// silence where there is no `source`.
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

  /// Repeats the last frame that number of times. To be taken back with `shorten`.
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

  /// Takes the last frames back. As many of the oldest are lost.
  @_noLocks
  mutating func shorten(_ frames: Int) {
    count &-= frames
  }

  /// One channel's samples from `frame` on, which must be among those kept.
  @_noLocks
  private func samples(of channel: Int, from frame: Int) -> UnsafePointer<Float> {
    UnsafePointer(
      rings.base + (channel &* 2 &* ringFrames &+ (frame & (ringFrames &- 1))))
  }

  /// Writes one frame to `target`: for each channel the sum of `count` frames, a multiple of 8,
  /// from `first` on, under `weights`, a `WeightRow`.
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

  /// Begins anew with silence.
  @_noLocks
  mutating func clear() {
    rings.clear(frames: rings.frameCount)
    count = 0
  }
}
