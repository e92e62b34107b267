import AudioSessions
import RealtimeAudio

/// The totals of several sessions.
struct SessionTotals {
  private(set) var report = SessionReport()
  private var isEmpty = true
  /// Whether any session has begun.
  private(set) var hasBegun = false

  /// Whether the last session ended before it was complete.
  var isEnded: Bool {
    if case .end = report.stopReason { return false }
    return !isEmpty
  }

  /// Stores the reason for which a session ended, but none of its figures. If the user requested
  /// the end while the session was completing, no further session may follow.
  mutating func note(_ outcome: SessionOutcome) {
    hasBegun = true
    report.stopReason = outcome.report.stopReason.superseded(by: outcome.requestedEnd)
  }

  mutating func add(_ outcome: SessionOutcome) {
    add(outcome.report)
    note(outcome)
  }

  mutating func add(_ other: SessionReport) {
    // The timelines of all sessions are joined to one.
    report.add(other, at: report.frames)
    isEmpty = false
  }

  /// Counts a file of `count` frames as if a session had processed it.
  mutating func readFrames(_ count: Int) {
    report.frames = max(report.frames, count)
  }

  /// Whether the user ended the last session.
  var isInterrupted: Bool { report.stopReason.isUserRequest }

  /// Whether no further session is useful: the user ended the last one, or its device failed.
  var isOver: Bool { isInterrupted || report.stopReason.failure != nil }
}

extension StopReason {
  /// Returns `requested`, the user's request to end, if the session had ended by itself; else this
  /// reason.
  func superseded(by requested: StopReason?) -> StopReason {
    switch self {
    case .duration, .end: requested ?? self
    case .signal, .key, .request, .device, .disk, .silence: self
    }
  }
}
