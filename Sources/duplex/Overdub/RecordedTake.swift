import AudioFiles
import AudioSessions

/// The result of one pass of an overdub.
struct RecordedTake {
  /// The path of the take.
  let path: String
  /// Whether a region of the take was recorded, to be inserted into it.
  let isRegion: Bool
  let plan: OverdubPlan
  let roundTrip: KnownRoundTrip
  let outcome: SessionOutcome
  /// The number of frames that were removed in addition to the round trip, because of the device's
  /// steps.
  let addedFrames: Int
  /// The failure of the backing, which could not be read to its end; nil if there is none.
  let backingFailure: FileFailure?
  var report: RecordingReport
  /// The path of the file with the region, if it could not be inserted into the take.
  var regionPath: String?
  /// The reason for which the region could not be inserted; nil if there is none, or if the failure
  /// is in the report.
  var insertionFailure: FileFailure?

  /// The path of the file that holds the frames. Another program may have renamed a take while it
  /// was recorded; a region is inserted into the take at its own path.
  var writtenPath: String { regionPath ?? (isRegion ? path : recordedPath ?? path) }

  /// The present path of the recorded file: the take, or the region of one; nil if there is none.
  var recordedPath: String? { report.files.last?.path }

  /// Whether frames were recorded.
  var hasFrames: Bool { report.frames > 0 }

  /// Whether neither the files nor the device failed.
  var isWhole: Bool {
    report.failure == nil && backingFailure == nil && outcome.report.stopReason.failure == nil
  }
}
