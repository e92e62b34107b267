import AudioBasics
import AudioFiles

/// Frames to be played, in order, at the rate and with the channels of the unit. Pulled by a
/// `PlayFeeder`; one thread at a time.
public protocol FrameSource: AnyObject {
  /// Fills the first of `buffer`, at most `frames` frames, and returns how many; 0 at the end.
  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int
}
