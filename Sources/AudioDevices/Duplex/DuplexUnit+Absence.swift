import RealtimeAudio

/// What a unit does while its device is away. No sound moves then, so that it may take its time.
extension DuplexUnit where Device: ~Copyable, Callbacks: ~Copyable {
  /// The device is gone: waits for it, or ends with `failure`.
  mutating func lose(_ failure: DeviceFailure) -> CycleOutcome {
    guard reconnects else { return .failed(failure) }
    if let kind = xrun { _ = events.write(TimelineEvent(kind: kind, frame: frame, frames: 0)) }
    xrun = nil
    fruitlessSince = nil
    device.close()
    if reconnectState.begin() {
      _ = events.write(TimelineEvent(kind: .deviceLost, frame: frame, frames: 0))
    }
    return .away
  }

  /// Gives the device a tenth of a second to come back.
  mutating func pollForReconnection() -> CycleOutcome {
    let found = device.pollForReconnection()
    lastReady = device.now
    if reconnectState.see(found) { figures.pointee.returning.withLock { $0 = found } }
    guard reconnectState.isAway else { return .recovered }
    return endWhileAway() ? .ran : .away
  }

  /// Where the limit is reached while nothing comes, the gap reaches to the end.
  mutating func endWhileAway() -> Bool {
    let lost = frameLimit - frame
    // Without input the timeline is that of what was played, and stands still.
    guard shape.hasCapture,
      reconnectState.frames(until: device.now, sampleRate: shape.sampleRate) >= lost
    else { return false }
    _ = events.write(TimelineEvent(kind: .deviceAbsent, frame: frame, frames: lost))
    frame = frameLimit
    figures.pointee.lostFrames.add(lost, ordering: .relaxed)
    figures.pointee.frames.store(frame, ordering: .relaxed)
    let time = CycleTime(frame: frame, nanoseconds: device.now, lostFrames: lost)
    callbacks.input(InputCycle(time: time, frames: nothing.frames(0), frameCount: 0))
    return true
  }

  /// One of two devices went away or is back, and the other went on.
  mutating func tell(_ news: SideEvents) {
    var event = TimelineEvent(kind: news.kind, frame: frame, frames: news.frames)
    switch news.kind {
    case .captureLost: captureLostFrame = frame
    case .playbackLost: playbackLostFrame = frame
    case .captureReturned:
      event.frame = captureLostFrame ?? frame
      captureLostFrame = nil
    case .playbackReturned: playbackLostFrame = nil
    default: break
    }
    lose(silentFrames: news.silentFrames)
    _ = events.write(event)
  }

  /// At the end: one of two devices that is away now did not come back.
  mutating func reportAbsence() {
    guard frame >= frameLimit else { return }
    if let lost = captureLostFrame {
      lose(silentFrames: frame - lost)
      _ = events.write(TimelineEvent(kind: .captureAbsent, frame: lost, frames: frame - lost))
    }
    if playbackLostFrame != nil {
      _ = events.write(TimelineEvent(kind: .playbackAbsent, frame: frame, frames: 0))
    }
    captureLostFrame = nil
    playbackLostFrame = nil
  }

  /// Frames that nobody captured and that were silence on the timeline.
  private func lose(silentFrames: Int) {
    guard silentFrames > 0 else { return }
    figures.pointee.lostFrames.add(silentFrames, ordering: .relaxed)
  }
}
