import AudioSessions
import RealtimeAudio

/// What several sessions come to.
struct SessionTotals {
  private(set) var report = SessionReport()
  private var loads = 0.0
  private var count = 0.0

  /// Whether the last one did not come to its own end.
  var isEnded: Bool {
    if case .end = report.stopReason { return false }
    return count > 0
  }

  /// Remembers how a session ended, but none of its figures.
  mutating func note(_ other: SessionReport) {
    report.stopReason = other.stopReason
  }

  mutating func add(_ other: SessionReport) {
    let before = report
    report = other
    report.frames += before.frames
    report.captureXruns += before.captureXruns
    report.playbackXruns += before.playbackXruns
    report.lostFrames += before.lostFrames
    report.nanCount += before.nanCount
    // One timeline goes through all of them.
    report.events =
      before.events
      + other.events.map {
        TimelineEvent(
          kind: $0.kind, frame: before.frames + $0.frame, frames: $0.frames,
          nanoseconds: $0.nanoseconds)
      }
    report.loadMax = max(before.loadMax, other.loadMax)
    loads += other.loadMean
    count += 1
    report.loadMean = loads / count
  }

  /// As if a session had gone over a file of `frames` frames.
  mutating func readFrames(_ count: Int) {
    report.frames = max(report.frames, count)
  }

  /// Whether the user ended the last one.
  var isInterrupted: Bool { report.stopReason.isOfTheUser }

  /// Whether no further one makes sense: the user ended it, or the device is gone.
  var isOver: Bool { isInterrupted || report.stopReason.failure != nil }
}
