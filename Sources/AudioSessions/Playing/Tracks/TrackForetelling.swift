import AudioBasics
import AudioClocks

/// What a converter must know beyond the edge of a track where a sound of another rate joins it:
/// foretold from the last frames before the edge, or the first behind it.
struct TrackForetelling: ~Copyable {
  /// Frames that are foretold at least: more than any filter of ours reaches.
  static let frames = 512

  /// Made when there is something to remember.
  private var recent = SampleBuffer(frameCount: 0, channelCount: 1)
  private var recentFrames = 0

  /// Keeps the newest frames, by which what follows is foretold.
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

  /// Fills the beginning of `sound` with what would have come after the frames remembered.
  func goOn(into sound: inout SampleBuffer) {
    guard recentFrames > 0 else { return }
    LinearPrediction.goOn(
      after: recent, frames: recentFrames, into: &sound, count: Self.frames)
  }

  /// What would have come before the first `frames` frames of `sound`, whole steps of `step` frames.
  static func past(
    of sound: borrowing SampleBuffer, frames: Int, step: Int
  ) -> SampleBuffer {
    let count = (Self.frames + step - 1) / step * step
    var earlier = SampleBuffer(frameCount: count, channelCount: sound.channelCount)
    LinearPrediction.goBack(before: sound, frames: frames, into: &earlier, count: count)
    return earlier
  }
}
