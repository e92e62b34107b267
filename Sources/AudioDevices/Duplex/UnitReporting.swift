// Audio thread.

import AudioBasics
import RealtimeAudio

/// The reports of a unit about lost frames, and about devices that go away and come back.
extension UnitCore {
  /// Counts the frames that the last cycle did not play because the input's clock is faster. If the
  /// output has stopped, its recovery counts the xrun.
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

  /// Reports an xrun that was recovered, and the number of frames lost.
  @_noLocks
  mutating func reportXrun(lost frames: Int) {
    guard let kind = xrun else { return }
    _ = events.write(TimelineEvent(kind: kind, frame: xrunFrame, frames: frames))
    xrun = nil
  }

  /// Reports that one of several devices went away or came back while the others continued.
  @_noLocks
  mutating func report(_ event: DeviceEvent) {
    var reported = TimelineEvent(
      kind: event.kind, frame: frame, frames: event.frames, outputIndex: event.outputIndex)
    switch event.kind {
    // An input that had stopped before is missing from the frame at which it stopped.
    case .captureLost: captureLostFrame = xrun == .captureXrun ? min(xrunFrame, frame) : frame
    case .playbackLost: playbackLostFrame = frame
    case .captureReturned:
      reported.frame = captureLostFrame ?? frame
      captureLostFrame = nil
      // The event includes the frames up to the next cycle.
      isReturnReported = true
    case .playbackReturned: playbackLostFrame = nil
    default: break
    }
    count(silentFrames: event.silentFrames)
    _ = events.write(reported)
  }

  /// Writes the reports that are still due at the end of the run.
  @_noLocks
  mutating func closeReports() {
    if droppedFrames > 0 { reportDrop() }
    reportOpenGap()
    reportAbsence()
  }

  /// Reports an input that stopped while the output continued, and that has not started again: the
  /// timeline is silent from that position on.
  @_noLocks
  mutating func reportOpenGap() {
    guard xrun == .captureXrun, captureLostFrame == nil, frame > xrunFrame else { return }
    let silent = frame &- xrunFrame
    count(silentFrames: silent &- unreportedLostFrames)
    reportXrun(lost: silent)
    unreportedLostFrames = 0
  }

  /// Reports, at the end of the run, that one of two devices is away and did not come back.
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

  /// Counts frames that were not captured and are silence on the timeline.
  @_noLocks
  func count(silentFrames: Int) {
    guard silentFrames > 0 else { return }
    figures.pointee.lostFrames.add(silentFrames, ordering: .relaxed)
  }
}
