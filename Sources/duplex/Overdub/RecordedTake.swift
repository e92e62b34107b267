import AudioFiles
import AudioSessions

/// The result of one pass of an overdub.
struct RecordedTake {
  /// The path of the take.
  let path: String
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

  /// The path of the file that holds the frames.
  var writtenPath: String { regionPath ?? path }

  /// Whether frames were recorded.
  var hasFrames: Bool { report.frames > 0 }

  /// Whether neither the files nor the device failed.
  var isWhole: Bool {
    report.failure == nil && backingFailure == nil && outcome.report.stopReason.failure == nil
  }
}
