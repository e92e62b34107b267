// Audio thread.

import AudioBasics
import RealtimeAudio

/// The reports of a unit on frames that were lost, and on devices that go away and come back.
extension UnitCore {
  /// Counts what the last cycle did not play because the input's clock is the faster one. An output
  /// that had stopped is counted when it is recovered.
  @_noLocks
  mutating func reportDrop() {
    let frames = droppedFrames
    droppedFrames = 0
    switch status.readiness {
    case .xrun(.playbackXrun), .suspended, .lost: return
    case .ready, .waiting, .xrun: break
    }
    figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    figures.pointee.lostFrames.add(frames, ordering: .relaxed)
    _ = events.write(TimelineEvent(kind: .playbackXrun, frame: frame &- frames, frames: frames))
  }

  /// Tells an xrun that was mended, and how many frames it took.
  @_noLocks
  mutating func reportXrun(lost frames: Int) {
    guard let kind = xrun else { return }
    _ = events.write(TimelineEvent(kind: kind, frame: xrunFrame, frames: frames))
    xrun = nil
  }

  /// One of several devices went away or is back, and the others went on.
  @_noLocks
  mutating func report(_ event: DeviceEvent) {
    var told = TimelineEvent(kind: event.kind, frame: frame, frames: event.frames)
    switch event.kind {
    // One that had stopped before is missing from there on.
    case .captureLost: captureLostFrame = xrun == .captureXrun ? min(xrunFrame, frame) : frame
    case .playbackLost: playbackLostFrame = frame
    case .captureReturned:
      told.frame = captureLostFrame ?? frame
      captureLostFrame = nil
      // With the frames up to the next cycle.
      isReturnTold = true
    case .playbackReturned: playbackLostFrame = nil
    default: break
    }
    count(silentFrames: event.silentFrames)
    _ = events.write(told)
  }

  /// At the end: tells what would have been told later.
  @_noLocks
  mutating func closeReports() {
    if droppedFrames > 0 { reportDrop() }
    reportOpenGap()
    reportAbsence()
  }

  /// Tells of an input that stopped while the output went on, and has not begun again: from there
  /// on the timeline is silent.
  @_noLocks
  mutating func reportOpenGap() {
    guard xrun == .captureXrun, captureLostFrame == nil, frame > xrunFrame else { return }
    let silent = frame &- xrunFrame
    count(silentFrames: silent &- untoldFrames)
    reportXrun(lost: silent)
    untoldFrames = 0
  }

  /// At the end: one of two devices that is away now did not come back.
  @_noLocks
  mutating func reportAbsence() {
    if let lost = captureLostFrame {
      count(silentFrames: frame &- lost)
      _ = events.write(TimelineEvent(kind: .captureAbsent, frame: lost, frames: frame &- lost))
    }
    if playbackLostFrame != nil {
      _ = events.write(TimelineEvent(kind: .playbackAbsent, frame: frame, frames: 0))
    }
    captureLostFrame = nil
    playbackLostFrame = nil
  }

  /// Frames that were not captured and are silence on the timeline.
  @_noLocks
  func count(silentFrames: Int) {
    guard silentFrames > 0 else { return }
    figures.pointee.lostFrames.add(silentFrames, ordering: .relaxed)
  }
}
