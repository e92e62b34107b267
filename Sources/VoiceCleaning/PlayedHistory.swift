import AudioBasics

/// What was played, kept until its echo arrives: frames go in as they were played and come out
/// `delayFrames` later, silence before the first.
struct PlayedHistory: ~Copyable {
  private var ring: SampleBuffer
  private var position = 0
  private let delayFrames: Int

  init(delayFrames: Int, channelCount: Int) {
    self.delayFrames = delayFrames
    ring = SampleBuffer(frameCount: max(1, delayFrames), channelCount: channelCount)
  }

  /// Exchanges the first `frames` frames of `buffer` for those of so long ago.
  mutating func delay(_ buffer: inout SampleBuffer, frames: Int) {
    guard delayFrames > 0 else { return }
    for frame in 0..<frames {
      for channel in 0..<ring.channelCount {
        let index = frame * ring.channelCount + channel
        swap(&ring.base[position * ring.channelCount + channel], &buffer.base[index])
      }
      position = position + 1 == delayFrames ? 0 : position + 1
    }
  }
}
