import RealtimeAudio

/// The recovery of a unit from an xrun, and the reconnection of a device that is away. It runs on
/// the audio thread and may take longer than a cycle.
extension UnitCore {
  /// Handles a turn that was not a cycle. Afterwards `hasInput` is true if the input callback is
  /// due for a last time.
  @usableFromInline
  mutating func handle(_ turn: Turn) -> CycleOutcome {
    switch turn {
    case .cycle, .ran: return .ran
    case .waiting: return .waiting
    case .finished: return .finished
    case .xrun(let kind): return recover(kind)
    case .lost: return lose(.lost(configuration))
    case .stalled:
      return lose(.stalled(configuration, seconds: Int(UnitTimeouts.stallTimeout / 1_000_000_000)))
    case .away: return pollForReconnection()
    case .absent:
      endInAbsence()
      return .ran
    }
  }

  private mutating func recover(_ kind: TimelineEvent.Kind) -> CycleOutcome {
    reports.beginXrun(kind, at: frame)
    do throws(DeviceFailure) {
      try device.recover()
    } catch {
      return lose(error)
    }
    switch timeouts.noteRecovery(at: device.now, isStopping: limit.isStopping) {
    case .tolerated: return .recovered
    case .stopped:
      closeReports()
      return .finished
    case .stalled:
      closeReports()
      return .failed(.persistentXrun(configuration))
    }
  }

  /// Handles the loss of the device: waits for its return, or ends with `failure`.
  private mutating func lose(_ failure: DeviceFailure) -> CycleOutcome {
    reports.endXrun(at: frame)
    guard reconnects else {
      closeReports()
      return .failed(failure)
    }
    timeouts.endRecovery()
    device.close()
    reconnectReport = ReconnectReport()
    if reconnectState.begin() { reports.reportLoss(at: frame) }
    return .away
  }

  /// Waits up to 100 ms for the return of the device.
  private mutating func pollForReconnection() -> CycleOutcome {
    let found = device.pollForReconnection()
    timeouts.restart(at: device.now)
    if case .returned = found { reconnectState.beginReturn() }
    if reconnectReport.shouldReport(found) { figures.pointee.returning.withLock { $0 = found } }
    guard reconnectState.isAway else { return .recovered }
    guard isAbsentToTheEnd else { return .away }
    endInAbsence()
    return .ran
  }

  /// Ends the run while the device is absent. The gap reaches the end of the run. The input
  /// callback receives it without frames.
  private mutating func endInAbsence() {
    let lost = limit.frame - frame
    reports.reportAbsence(at: frame, frames: lost)
    frame = limit.frame
    figures.pointee.frames.store(frame, ordering: .relaxed)
    time = CycleTime(frame: frame, nanoseconds: device.now, lostFrames: lost)
    captured = silentBuffer.frames(0)
    cycleFrames = 0
    hasInput = true
  }
}
