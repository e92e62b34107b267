import AudioFiles
import AudioSessions

/// The part of a command in the summary of its session.
struct CommandSummary {
  /// The report of the failure of a file that the user has already seen.
  enum FailureNotice {
    case none, warning, error
  }

  /// The name of the command.
  let command: String
  /// The recording; nil if nothing was recorded.
  var recorded: RecordingReport?
  /// The failure of a file that was played; nil if there was none. A failure of `recorded` has
  /// precedence.
  var failure: FileFailure?
  /// The report of the failure before the summary.
  var notice = FailureNotice.none
  /// Whether anything was played; nil if the frames of the session and the recording decide it.
  var hasSounded: Bool?
  /// The fields in addition to those of every summary.
  var fields: Fields = [:]
  /// The sentence that is printed; nil if none is.
  var sentence: String?
}
