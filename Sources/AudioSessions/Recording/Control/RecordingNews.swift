import AudioFiles
import RealtimeAudio

/// What happens to a recording, as whoever watches is told.
public enum RecordingEvent: Sendable {
  /// Frames were captured and found no room on the tape: a gap on the timeline.
  case overflow(frame: Int, frames: Int)
  /// A place was marked: a frame of the recording.
  case marker(RecordedMarker)
  /// The recording goes on in this file.
  case split(RecordedFile)
  /// A file is complete.
  case finished(RecordedFile)
  /// A file was removed to make room.
  case removed(path: String)
  /// Somebody speaks: what is kept begins.
  case opened(RecordedStretch)
  /// Nobody speaks any more: what was kept is over.
  case closed(RecordedStretch)
  /// What was heard before the take began.
  case checked(ProgrammeLevels)
  /// The disk is full before long.
  case diskLow(seconds: Double)
  /// Something went wrong that stops nothing.
  case warning(FileFailure)
}

/// Levels and whereabouts of a recording at this moment.
public struct RecordingState: Sendable {
  /// Levels so far.
  public var levels = ProgrammeLevels.nothing
  /// Seconds until the disk is full; nil where that is not known.
  public var secondsLeft: Double?
  /// Whether the take has begun and what comes is kept.
  public var isOpen = false
}

/// Brings what happens on the disk thread to whoever watches.
public final class RecordingNews: Sendable {
  private let events = Guarded<[RecordingEvent]>([])
  private let state = Guarded(RecordingState())
  private let isWatched = Latch()

  init() {}

  /// What happened since the last time. Any thread but the audio thread.
  public func take() -> [RecordingEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// The latest state. Levels are worked out from the first time on that somebody asks.
  public var latest: RecordingState {
    isWatched.raise()
    return state.withLock { $0 }
  }

  /// Whether somebody asks for the state.
  var isStateWanted: Bool { isWatched.isRaised }

  func tell(_ event: RecordingEvent) {
    events.withLock { $0.append(event) }
  }

  func update(_ change: (inout RecordingState) -> Void) {
    state.withLock { change(&$0) }
  }
}
