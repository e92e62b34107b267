import ArgumentParser
import AudioSessions

/// The option `--stop-after-silence`.
struct SilenceStopOption: ParsableArguments {
  @Option(
    help: .init(
      "Stop when the microphone has been silent for this long: no sample above \(Int(clamping: SilenceStop.thresholdDBFS)) dBFS.",
      valueName: "time"))
  var stopAfterSilence: TimeOption?

  /// Follows the level of a microphone at `rate`, after `firstFrames` frames that are not recorded;
  /// nil if silence does not end the session.
  func follower(at rate: Int, after firstFrames: Int) -> SilenceStop? {
    stopAfterSilence.map { SilenceStop(frames: $0.frameCount(at: rate), after: firstFrames) }
  }
}

/// Determines when a microphone has been silent long enough to end a session.
final class SilenceStop {
  /// The threshold of silence, which is above the noise of usual microphones and below a whisper.
  static let thresholdDBFS = -50.0

  private let frames: Int
  private var silentFrames: Int
  /// The number of silent frames at the start: below zero by the frames that do not count.
  private let firstCount: Int

  /// Ends a session after `frames` frames of silence, to the reading of the meter. The first
  /// `firstFrames` frames do not count.
  init(frames: Int, after firstFrames: Int) {
    self.frames = max(1, frames)
    firstCount = -firstFrames
    silentFrames = firstCount
  }

  /// Processes the readings of a snapshot. Returns the reason to stop; nil if there is none.
  func poll(_ snapshot: SessionSnapshot) -> StopReason? {
    for reading in snapshot.readings {
      let isSilent = reading.peakDBFS.allSatisfy { $0 <= Self.thresholdDBFS }
      silentFrames =
        isSilent || silentFrames < 0 ? silentFrames + reading.frameCount : 0
      if silentFrames >= frames { return .silence }
    }
    return nil
  }

  /// Silence counts from here on: nothing is recorded yet.
  func restart() { silentFrames = firstCount }
}
