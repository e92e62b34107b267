import AudioFiles

/// A stretch of a recording that was lost and is silence in the file.
public struct RecordingGap: Sendable, Equatable {
  /// The gap's first frame in the recording: in its file, or in its files one after the other.
  public var frame: Int
  /// Its length.
  public var frames: Int

  /// A gap of `frames` frames at `frame`.
  public init(frame: Int, frames: Int) {
    self.frame = frame
    self.frames = frames
  }
}

/// A file of a recording.
public struct RecordedFile: Sendable, Equatable {
  /// Where it is.
  public var path: String
  /// The recording's frame it begins with.
  public var firstFrame: Int
  /// Its length.
  public var frames = 0
  /// When its first frame was captured, in nanoseconds since 1970.
  public var start: UInt64
}

/// A stretch of the unit's timeline that was kept, what lay around it being left out.
public struct RecordedStretch: Sendable, Equatable {
  /// Its first frame on the unit's timeline.
  public var timelineFrame: Int
  /// Its first frame in the recording.
  public var frame: Int
  /// Its length.
  public var frames = 0
  /// When its first frame was captured, in nanoseconds since 1970.
  public var start: UInt64
}

/// A place that somebody marked.
public struct RecordedMarker: Sendable, Equatable {
  /// The recording's frame.
  public var frame: Int
  /// What it is called.
  public var label: String
}

/// What became of a recording.
public struct RecordingReport: Sendable {
  /// Frames in all files, gaps included.
  public var frames = 0
  /// Every gap, in order.
  public var gaps: [RecordingGap] = []
  /// Frames that were captured and found no room on their way to the disk.
  public var overflowFrames = 0
  /// Its levels.
  public var levels = ProgrammeLevels.nothing
  /// Its files, in order; those that were removed to make room are not among them.
  public var files: [RecordedFile] = []
  /// What was kept, where it was not all.
  public var stretches: [RecordedStretch] = []
  /// What was marked.
  public var markers: [RecordedMarker] = []
  /// Why it ended early, where it did.
  public var failure: FileFailure?

  /// Nothing recorded yet.
  public init() {}

  /// Each channel's highest magnitude.
  public var peaks: [Float] { levels.samplePeaks }

  /// Loudness of the whole by ITU-R BS.1770; nil for silence.
  public var integratedLUFS: Double? { levels.integratedLUFS }
}
