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
      return lose(.stalled(configuration, seconds: Int(Self.stallTimeout / 1_000_000_000)))
    case .away: return pollForReconnection()
    case .absent:
      endInAbsence()
      return .ran
    }
  }

  private mutating func recover(_ kind: TimelineEvent.Kind) -> CycleOutcome {
    // Cycles ran after the last xrun, and its gap is still open.
    if xrun != nil, frame > xrunFrame { reportXrun(lost: 0) }
    repeatedXruns = xrun == kind ? repeatedXruns &+ 1 : 0
    xrun = kind
    xrunFrame = frame
    if kind == .playbackXrun {
      figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    } else {
      figures.pointee.captureXruns.add(1, ordering: .relaxed)
    }
    do throws(DeviceFailure) {
      try device.recover()
    } catch {
      return lose(error)
    }
    lastReady = device.now
    let since = unrecoveredSince ?? lastReady
    unrecoveredSince = since
    if isStopping && lastReady &- since > Self.stopTimeout {
      closeReports()
      return .finished
    }
    // Gaps without a frame between them would otherwise repeat endlessly.
    guard lastReady &- since < Self.stallTimeout else {
      closeReports()
      return .failed(.persistentXrun(configuration))
    }
    return .recovered
  }

  /// Handles the loss of the device: waits for its return, or ends with `failure`.
  private mutating func lose(_ failure: DeviceFailure) -> CycleOutcome {
    discountRepeatedXruns()
    guard reconnects else {
      closeReports()
      reportXrun(lost: 0)
      return .failed(failure)
    }
    reportOpenGap()
    reportXrun(lost: 0)
    unrecoveredSince = nil
    device.close()
    reconnectReport = ReconnectReport()
    if reconnectState.begin() {
      _ = events.write(TimelineEvent(kind: .deviceLost, frame: frame, frames: 0))
    }
    return .away
  }

  /// Counts one xrun, which an event reports, if the device was restarted several times without a
  /// frame before it was lost. The plugin of a sound server that has ended reports an xrun after
  /// each start.
  private func discountRepeatedXruns() {
    switch xrun {
    case .captureXrun: figures.pointee.captureXruns.subtract(repeatedXruns, ordering: .relaxed)
    case .playbackXrun: figures.pointee.playbackXruns.subtract(repeatedXruns, ordering: .relaxed)
    default: break
    }
  }

  /// Waits up to 100 ms for the return of the device.
  private mutating func pollForReconnection() -> CycleOutcome {
    let found = device.pollForReconnection()
    lastReady = device.now
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
    let lost = frameLimit - frame
    _ = events.write(TimelineEvent(kind: .deviceAbsent, frame: frame, frames: lost))
    frame = frameLimit
    figures.pointee.lostFrames.add(lost, ordering: .relaxed)
    figures.pointee.frames.store(frame, ordering: .relaxed)
    time = CycleTime(frame: frame, nanoseconds: device.now, lostFrames: lost)
    captured = silentBuffer.frames(0)
    cycleFrames = 0
    hasInput = true
  }
}
