import AudioBasics
import AudioFiles
import AudioLevels

/// An event of a recording, as reported to its watcher.
public enum RecordingEvent: Sendable {
  /// Captured frames did not fit into the ring: a gap of `frames` frames at `frame` of the unit's
  /// timeline.
  case overflow(frame: Int, frames: Int)
  /// A frame of the recording was marked.
  case marker(RecordedMarker)
  /// A marker with this label was requested, and no frame was recorded after it.
  case unsetMarker(String)
  /// The recording continues in this file.
  case split(RecordedFile)
  /// This file is complete.
  case finished(RecordedFile)
  /// Another program renamed the growing file, or its folder: the recording continues there.
  case renamed(String, to: String, isFolder: Bool)
  /// A file was removed to make room.
  case removed(path: String)
  /// A command for a complete file printed this line, if the plan reports command output.
  case printed(String)
  /// The user paused: no frames are kept from here on.
  case paused(RecordingPause)
  /// The user ended the pause.
  case resumed(RecordingPause)
  /// Speech was detected: a kept segment begins.
  case opened(RecordedSegment)
  /// Speech ended: the kept segment is complete.
  case closed(RecordedSegment)
  /// The levels before the recording began.
  case checked(ProgrammeLevels)
  /// All frames kept so far, at least 2 s, are digital silence.
  case onlySilence
  /// The disk will be full in this number of seconds.
  case diskLow(seconds: Double)
  /// A failure that does not stop the recording.
  case warning(FileFailure)
}

/// Frames of a recording that were lost and are silence in the file.
public struct RecordingGap: Sendable, Equatable {
  /// The gap's first frame in the recording, counted over all its files.
  public var frame: Int
  /// The length in frames.
  public var frames: Int

  /// Creates a gap of `frames` frames at `frame`.
  public init(frame: Int, frames: Int) {
    self.frame = frame
    self.frames = frames
  }
}

/// A file of a recording.
public struct RecordedFile: Sendable, Equatable {
  /// The path of the file.
  public var path: String
  /// The frame of the recording with which the file begins.
  public var firstFrame: Int
  /// The length in frames.
  public var frames = 0
  /// The time at which its first frame was captured, in nanoseconds since 1970.
  public var start: UInt64
}

/// A range of the unit's timeline that was kept, while the frames around it were left out.
public struct RecordedSegment: Sendable, Equatable {
  /// The first frame on the unit's timeline.
  public var timelineFrame: Int
  /// The first frame in the recording.
  public var frame: Int
  /// The length in frames.
  public var frames = 0
  /// The time at which its first frame was captured, in nanoseconds since 1970.
  public var start: UInt64
}

/// A pause that the user made in a recording: its position and its length.
public struct RecordingPause: Sendable, Equatable {
  /// The frame of the recording before which the pause is.
  public var frame: Int
  /// The first frame of the pause on the unit's timeline.
  public var timelineFrame: Int
  /// The length in frames; 0 while the pause lasts.
  public var frames = 0
}

/// A frame that the user marked.
public struct RecordedMarker: Sendable, Equatable {
  /// The frame of the recording.
  public var frame: Int
  /// The label of the marker.
  public var label: String
}

/// The result of a recording: its files, frames, gaps, levels and failure.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// let recording = try await engine.record(to: "take.wav")
/// try await engine.run(seconds: 1)
/// if let report = recording.report {  // nil until the recording is complete
///   precondition(report.frames == 48000 && report.gaps.isEmpty && report.failure == nil)
///   print(report.files.map(\.path), report.levels.integratedLUFS ?? "silence")
/// }
/// ```
public struct RecordingReport: Sendable {
  /// The format of the files; nil if the recording could not begin.
  public var fileFormat: FileFormat?
  /// The format of their samples; nil if the recording could not begin.
  public var sampleFormat: FileSampleFormat?
  /// The sample rate in frames per second; 0 if the recording could not begin.
  public var sampleRate = 0
  /// The number of channels; 0 if the recording could not begin.
  public var channelCount = 0
  /// The number of frames in all files, including gaps.
  public var frames = 0
  /// Every gap, in order, except frames that are silent because one of two devices was missing:
  /// `SessionReport.gaps(in:)` contains those as well.
  public var gaps: [RecordingGap] = []
  /// The number of captured frames that did not fit into the ring.
  public var overflowFrames = 0
  /// The number of frames in lost files: another program truncated a file, wrote to it, or deleted
  /// it and it could not be written again.
  public var lostFrames = 0
  /// The levels of the recording; `.nothing` if the plan does not measure them.
  public var levels = ProgrammeLevels.nothing
  /// Whether the whole recording is digital silence; false if nothing was kept.
  public var isSilent = false
  /// The files, in order, without those that were removed to make room.
  public var files: [RecordedFile] = []
  /// The paths of the unprocessed recording, which a plan may request in addition.
  public var rawPaths: [String] = []
  /// The kept segments, if not everything was kept.
  public var segments: [RecordedSegment] = []
  /// The markers.
  public var markers: [RecordedMarker] = []
  /// The pauses that the user made.
  public var pauses: [RecordingPause] = []
  /// The reason that the recording ended early; nil if it did not.
  public var failure: FileFailure?

  /// Creates the report of a recording without frames.
  public init() {}

  /// Creates the report of a recording by `plan` without frames.
  init(_ plan: RecordingPlan) {
    fileFormat = plan.fileFormat
    sampleFormat = plan.sampleFormat
    sampleRate = plan.sampleRate
    channelCount = plan.channelCount
  }

  /// The length in seconds, including gaps.
  public var seconds: Double { sampleRate > 0 ? Double(frames) / Double(sampleRate) : 0 }

  /// Adds a gap; a gap that begins at the end of the last one extends it.
  mutating func add(_ gap: RecordingGap) {
    if let last = gaps.last, last.frame + last.frames == gap.frame {
      gaps[gaps.count - 1].frames += gap.frames
    } else {
      gaps.append(gap)
    }
  }

  /// Ends the report after `frames` frames, the number that was written; `lostFrames` of them are
  /// in no file any more. Later entries are removed.
  mutating func end(at frames: Int, losing lostFrames: Int) {
    self.frames = frames
    self.lostFrames = lostFrames
    markers.removeAll { $0.frame > frames }
    pauses.removeAll { $0.frame > frames }
    gaps = gaps.compactMap { gap in
      let rest = min(gap.frames, frames - gap.frame)
      return rest > 0 ? RecordingGap(frame: gap.frame, frames: rest) : nil
    }
    segments = segments.compactMap { segment in
      var segment = segment
      let rest = min(segment.frames, frames - segment.frame)
      guard rest > 0 || (rest == 0 && segment.frames == 0) else { return nil }
      segment.frames = rest
      return segment
    }
  }

  /// Adds another recording that follows this one: its frames, gaps, overflow and lost frames. The
  /// first failure stays, and everything else is that of this recording.
  public mutating func add(_ other: RecordingReport) {
    gaps += other.gaps.map { gap in
      RecordingGap(frame: frames.clampedSum(gap.frame), frames: gap.frames)
    }
    frames = frames.clampedSum(other.frames)
    overflowFrames = overflowFrames.clampedSum(other.overflowFrames)
    lostFrames = lostFrames.clampedSum(other.lostFrames)
    failure = failure ?? other.failure
  }
}
