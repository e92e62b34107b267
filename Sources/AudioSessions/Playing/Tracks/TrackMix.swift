import AudioBasics
import AudioFiles

/// Several sources at once, added up. It ends when the last of them that is heard does.
public final class TrackMix: FrameSource {
  private let sources: [any FrameSource]
  private var part: SampleBuffer
  /// The one that is heard, while the others are read and let go; nil for all.
  var chosen: Int?

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
    for (index, source) in sources.enumerated() {
      let count = try source.read(into: &part, frames: wanted)
      if let chosen, chosen != index { continue }
      buffer.add(part, frames: count)
      longest = max(longest, count)
    }
    return longest
  }
}
