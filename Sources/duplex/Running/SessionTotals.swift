import AudioSessions
import RealtimeAudio

/// The totals of several sessions.
struct SessionTotals {
  private(set) var report = SessionReport()
  private var isEmpty = true
  /// Whether any session has begun.
  private(set) var hasBegun = false

  /// Whether the last one did not come to its own end.
  var isEnded: Bool {
    if case .end = report.stopReason { return false }
    return !isEmpty
  }

  /// Remembers how a session ended, but none of its figures. Where the user asked for the end while
  /// it came to its own, no further session is to follow.
  mutating func note(_ outcome: SessionOutcome) {
    hasBegun = true
    report.stopReason = outcome.report.stopReason.superseded(by: outcome.askedEnd)
  }

  mutating func add(_ outcome: SessionOutcome) {
    add(outcome.report)
    note(outcome)
  }

  mutating func add(_ other: SessionReport) {
    // One timeline goes through all of them.
    report.add(other, at: report.frames)
    isEmpty = false
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

extension StopReason {
  /// `asked`, by which the user ended it, where it had come to its own end.
  func superseded(by asked: StopReason?) -> StopReason {
    switch self {
    case .duration, .end: asked ?? self
    case .signal, .key, .request, .device, .disk, .silence: self
    }
  }
}
