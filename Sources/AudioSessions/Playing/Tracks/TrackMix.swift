import AudioBasics
import AudioFiles

/// Several sources at once, added up. It ends when the last of them does.
public final class TrackMix: FrameSource {
  private let sources: [any FrameSource]
  private var part: SampleBuffer

  /// The sum of `sources`.
  public init(_ sources: [any FrameSource], channelCount: Int) {
    self.sources = sources
    part = SampleBuffer(frameCount: 1024, channelCount: channelCount)
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let wanted = min(frames, part.frameCount)
    buffer.clear(frames: wanted)
    var longest = 0
    for source in sources {
      let count = try source.read(into: &part, frames: wanted)
      buffer.add(part, frames: count)
      longest = max(longest, count)
    }
    return longest
  }
}
