import AudioBasics
import AudioClocks

/// The samples that a converter needs beyond the edge of a track that joins audio of another rate:
/// predicted from the last frames before the edge, or from the first frames after it.
struct TrackExtrapolation: ~Copyable {
  /// The minimum number of predicted frames: more than the length of any filter in use.
  static let frames = 512

  /// The newest frames, allocated when they are first needed.
  private var recent = SampleBuffer(frameCount: 0, channelCount: 1)
  private var recentFrames = 0

  /// Keeps the newest frames, from which the following ones are predicted.
  mutating func remember(_ sound: borrowing SampleBuffer, frames count: Int) {
    if recent.frameCount == 0 {
      recent = SampleBuffer(frameCount: 1024, channelCount: sound.channelCount)
    }
    let kept = min(recentFrames, recent.frameCount - min(count, recent.frameCount))
    let channelCount = recent.channelCount
    for sample in 0..<kept * channelCount {
      recent[sample] = recent[(recentFrames - kept) * channelCount + sample]
    }
    let added = min(count, recent.frameCount - kept)
    recent.replace(at: kept, with: sound, from: count - added, frames: added)
    recentFrames = kept + added
  }

  /// Forgets the kept frames, because the next ones do not follow them.
  mutating func forget() { recentFrames = 0 }

  /// Fills the beginning of `sound` with the prediction of the frames after the kept ones.
  func extrapolate(into sound: inout SampleBuffer) {
    guard recentFrames > 0 else { return }
    LinearExtrapolation.extrapolate(
      after: recent, frames: recentFrames, into: &sound, count: Self.frames)
  }

  /// Returns the prediction of the frames before the first `frames` frames of `sound`, in whole
  /// steps of `step` frames.
  static func past(
    of sound: borrowing SampleBuffer, frames: Int, step: Int
  ) -> SampleBuffer {
    let count = (Self.frames + step - 1) / step * step
    var earlier = SampleBuffer(frameCount: count, channelCount: sound.channelCount)
    LinearExtrapolation.extrapolate(before: sound, frames: frames, into: &earlier, count: count)
    return earlier
  }
}
