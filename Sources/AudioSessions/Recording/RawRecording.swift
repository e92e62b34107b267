import AudioBasics
import AudioFiles

/// The recording of the unprocessed frames, in addition to the processed ones. If its files fail,
/// the processed recording continues without it, and its failure is reported at the end. Disk
/// thread.
struct RawRecording: ~Copyable {
  private let plan: RecordingPlan
  private let events: RecordingEvents
  /// The files; nil after a failure.
  private var files: DelayedFiles?
  /// The paths of the files that failed.
  private var failedPaths: [String] = []
  /// The failure that ended it; nil if there was none.
  private(set) var failure: FileFailure?

  /// Creates files according to `plan`, for which at most `frameCount` frames wait. No file in
  /// `written` is overwritten.
  init(
    _ plan: RecordingPlan, frameCount: Int, events: RecordingEvents, written: WrittenFiles
  ) throws(FileFailure) {
    files = try DelayedFiles(plan, frameCount: frameCount, events: events, written: written)
    self.plan = plan
    self.events = events
  }

  /// The paths of its files, including the growing one.
  var paths: [String] {
    switch files {
    case .some(let files): files.series.paths
    case .none: failedPaths
    }
  }

  /// The growing file; nil if there is none.
  var growingFile: GrowingFile? {
    switch files {
    case .some(let files): files.series.current.map { GrowingFile(plan: plan, file: $0) }
    case .none: nil
    }
  }

  /// Appends the frames of `range` of `buffer`, which wait for `take`.
  mutating func store(_ buffer: borrowing SampleBuffer, _ range: Range<Int>) {
    files?.append(range)
    files?.store(buffer)
  }

  /// Removes the oldest `count` frames, and writes them if they are kept; the first was captured at
  /// `start`.
  mutating func take(_ count: Int, isKept: Bool, start: CaptureTime) {
    attempt { files throws(FileFailure) in
      try files.takeStored(count, isKept: isKept, start: start)
    }
  }

  /// Makes the files valid in their present state; with `synchronizing`, waits for the disk.
  mutating func refresh(synchronizing: Bool) {
    attempt { files throws(FileFailure) in
      try files.series.refresh(synchronizing: synchronizing)
    }
  }

  /// Completes the files.
  mutating func finish() {
    attempt { files throws(FileFailure) in try files.series.finish(.nothing) }
  }

  /// Runs `body` on the files, unless they have failed. If it throws, they have failed now.
  private mutating func attempt(_ body: (inout DelayedFiles) throws(FileFailure) -> Void) {
    guard var files = files.take() else { return }
    do throws(FileFailure) {
      try body(&files)
      self.files = consume files
    } catch {
      failedPaths = files.series.paths
      failure = error
      events.emit(.warning(error))
    }
  }
}
