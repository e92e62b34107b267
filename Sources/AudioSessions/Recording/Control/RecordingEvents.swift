import AudioFiles
import AudioLevels
import RealtimeAudio

/// An event of a recording, as its watcher is told.
public enum RecordingEvent: Sendable {
  /// Frames were captured and found no room in the ring: a gap on the timeline.
  case overflow(frame: Int, frames: Int)
  /// A place was marked: a frame of the recording.
  case marker(RecordedMarker)
  /// The recording goes on in this file.
  case split(RecordedFile)
  /// A file is complete.
  case finished(RecordedFile)
  /// A file was removed to make room.
  case removed(path: String)
  /// A command for a file that is complete printed this line, where the plan has that told.
  case printed(String)
  /// The user paused: nothing is kept from here on.
  case paused(RecordingPause)
  /// The user went on.
  case resumed(RecordingPause)
  /// Speech was found: what is kept begins.
  case opened(RecordedSegment)
  /// There is no voice any more: what was kept is over.
  case closed(RecordedSegment)
  /// Levels before the recording began.
  case checked(ProgrammeLevels)
  /// All that was kept so far, two seconds and more, is digital silence.
  case onlySilence
  /// The disk is full before long.
  case diskLow(seconds: Double)
  /// Something went wrong that stops nothing.
  case warning(FileFailure)
}

/// Levels and state of a recording at this moment.
public struct RecordingState: Sendable {
  /// The file that grows; nil where none does.
  public var path: String?
  /// Levels so far.
  public var levels = ProgrammeLevels.nothing
  /// Seconds until the disk is full; nil where that is not known.
  public var secondsLeft: Double?
  /// Whether the gate is open.
  public var isOpen = false
  /// Whether the user paused.
  public var isPaused = false
}

/// Brings what happens on the disk thread to the watcher.
public final class RecordingEvents: Sendable {
  private let events = MutexBox<[RecordingEvent]>([])
  private let state = MutexBox(RecordingState())
  private let isWatched = AtomicFlag()

  init() {}

  /// The most that are kept for a watcher who does not look: the oldest are let go.
  private static let mostKept = 10_000
  /// The most that wait where another line of a command is told.
  private static let mostPrinted = 1000

  /// What happened since the last time; of more than 10,000 the newest are there, 5,000 at least.
  /// Any thread but the audio thread.
  public func take() -> [RecordingEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// The latest state. Levels are worked out once they were asked for.
  public var latest: RecordingState {
    isWatched.raise()
    return state.withLock { $0 }
  }

  /// Whether the state was asked for.
  var isStateWanted: Bool { isWatched.isRaised }

  func emit(_ event: RecordingEvent) {
    events.withLock { events in
      // Lines that a command printed never displace other events.
      if case .printed = event, events.count >= Self.mostPrinted { return }
      // Half of them at once: each move costs as much as all that stay.
      if events.count >= Self.mostKept { events.removeFirst(Self.mostKept / 2) }
      events.append(event)
    }
  }

  func update(_ change: (inout RecordingState) -> Void) {
    state.withLock { change(&$0) }
  }
}

/// Frames of a recording that were lost and are silence in the file.
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

/// A range of the unit's timeline that was kept, what lay around it being left out.
public struct RecordedSegment: Sendable, Equatable {
  /// Its first frame on the unit's timeline.
  public var timelineFrame: Int
  /// Its first frame in the recording.
  public var frame: Int
  /// Its length.
  public var frames = 0
  /// When its first frame was captured, in nanoseconds since 1970.
  public var start: UInt64
}

/// A pause that the user made in a recording: its position and its length.
public struct RecordingPause: Sendable, Equatable {
  /// The recording's frame before which it lies.
  public var frame: Int
  /// Its first frame on the unit's timeline.
  public var timelineFrame: Int
  /// Its length; 0 while it goes on.
  public var frames = 0
}

/// A place that the user marked.
public struct RecordedMarker: Sendable, Equatable {
  /// The recording's frame.
  public var frame: Int
  /// What it is called.
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
  /// Frames in all files, gaps included.
  public var frames = 0
  /// Every gap, in order, but for frames that came as silence since one of two devices was missing:
  /// those are in `SessionReport.gaps(in:)` too.
  public var gaps: [RecordingGap] = []
  /// Frames that were captured and found no room on their way to the disk.
  public var overflowFrames = 0
  /// Frames of files that are lost: another program cut a file off, wrote into it, or deleted it
  /// where it could not be written again.
  public var lostFrames = 0
  /// Its levels; those of nothing where the plan does not measure them.
  public var levels = ProgrammeLevels.nothing
  /// Whether all of it is digital silence; false where nothing was kept.
  public var isSilent = false
  /// Its files, in order; those that were removed to make room are not among them.
  public var files: [RecordedFile] = []
  /// Where the unprocessed recording is, which a plan may ask for besides.
  public var rawPaths: [String] = []
  /// What was kept, where it was not all.
  public var segments: [RecordedSegment] = []
  /// What was marked.
  public var markers: [RecordedMarker] = []
  /// What the user left out.
  public var pauses: [RecordingPause] = []
  /// Why it ended early, where it did.
  public var failure: FileFailure?

  /// Nothing recorded yet.
  public init() {}

  /// Adds a gap; one that begins where the last one ended is part of that.
  mutating func add(_ gap: RecordingGap) {
    if let last = gaps.last, last.frame + last.frames == gap.frame {
      gaps[gaps.count - 1].frames += gap.frames
    } else {
      gaps.append(gap)
    }
  }

  /// Only its first `frames` frames were written, and `lostFrames` of them are in no file any more.
  /// What lay behind is left out.
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

  /// Adds another recording, which comes behind this one: its frames, gaps, overflow and lost
  /// frames. The first failure stays, and all else is this one's.
  public mutating func add(_ other: RecordingReport) {
    gaps += other.gaps.map { RecordingGap(frame: frames + $0.frame, frames: $0.frames) }
    frames += other.frames
    overflowFrames += other.overflowFrames
    lostFrames += other.lostFrames
    failure = failure ?? other.failure
  }
}
