import ArgumentParser
import AudioBasics
import AudioSessions

/// `--stop-after-silence`.
struct SilenceStopOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Stop when the microphone has been silent for this long: no sample above -50 dBFS.",
      valueName: "time"))
  var stopAfterSilence: TimeOption?

  /// Follows a microphone at `rate`; nil where silence ends nothing.
  func follower(at rate: Int) -> SilenceStop? {
    stopAfterSilence.map { SilenceStop(seconds: $0.seconds(at: rate)) }
  }
}

/// Tells when a microphone has been silent for long enough to end a session.
final class SilenceStop {
  /// What is louder than this is no silence: above the noise of usual microphones, below a whisper.
  private static let thresholdDBFS = -50.0

  private let readingCount: Int
  private var silentReadings = 0

  /// Ends a session after `seconds` of silence, to the tenth of a second.
  init(seconds: Double) {
    readingCount = max(1, Int(clamping: (seconds * 10).rounded(.up)))
  }

  /// Follows the readings of a moment, each a tenth of a second. The reason to stop, where it is reached.
  func poll(_ moment: SessionMoment) -> StopReason? {
    for reading in moment.readings {
      let isSilent = reading.peakDBFS.allSatisfy { $0 <= Self.thresholdDBFS }
      silentReadings = isSilent ? silentReadings + 1 : 0
      if silentReadings >= readingCount { return .silence }
    }
    return nil
  }

  /// Silence counts from here on: nothing is recorded yet.
  func restart() { silentReadings = 0 }
}
