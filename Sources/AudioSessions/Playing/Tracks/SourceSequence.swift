import AudioBasics
import AudioFiles

/// Sources one after the other, without a gap.
public final class SourceSequence: FrameSource {
  private var sources: [any FrameSource]

  /// `sources`, in this order.
  public init(_ sources: [any FrameSource]) {
    self.sources = sources
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    while let source = sources.first {
      let count = try source.read(into: &buffer, frames: frames)
      if count > 0 { return count }
      sources.removeFirst()
    }
    return 0
  }
}
