// Audio thread.

import RealtimeAudio

/// The reports of a unit about lost frames, and about devices that go away and come back.
///
/// Each lost frame is counted once, and each gap is in one event: the first that is due. The unit
/// passes its position on the timeline to each call.
struct TimelineReporter: ~Copyable {
  private var events: EventWriter<TimelineEvent>
  private let shared: SharedState<UnitFigures>
  /// An xrun that was recovered and whose gap a later cycle reports, and the frame before which it
  /// occurred.
  private var xrun: TimelineEvent.Kind?
  private var xrunFrame = 0
  /// The number of xruns at `xrunFrame` after the first one, which are not counted yet: the plugin
  /// of a sound server that has ended reports one after each start.
  private var repeatedXruns = 0
  /// The number of lost frames that no event has reported yet.
  private var unreportedLostFrames = 0
  /// The number of captured frames of the last cycle for which the output had no room.
  private var droppedFrames = 0
  /// The positions on the timeline at which one of two devices went away; nil while it is present.
  private var captureLostFrame: Int?
  private var playbackLostFrame: Int?
  /// The number of lost frames that were counted since the input went away.
  private var absentLostFrames = 0
  /// Whether an event of this turn reported the return of the input and the number of lost frames.
  private var isReturnReported = false

  /// Creates the reports of a unit, which are written to `events` and counted in `shared`.
  init(_ events: consuming EventWriter<TimelineEvent>, _ shared: consuming SharedState<UnitFigures>)
  {
    self.events = events
    self.shared = shared
  }

  private var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  // MARK: Cycles

  /// Reports the `lost` frames before the cycle at `frame`, and the input frames that silence
  /// replaced since the cycle before; nil for `concealed` while their number is not known.
  @_noLocks @inline(__always)
  mutating func reportGap(lost: Int, concealed: Int?, at frame: Int) {
    // The event of the input's return, or of its absence at the end, has all frames since its loss.
    let isInAbsence = isReturnReported || captureLostFrame != nil
    if let concealed {
      // Lost frames form a gap, whether or not an xrun was reported.
      let all = unreportedLostFrames &+ (isInAbsence ? 0 : lost) &+ concealed
      if all > 0, xrun == nil { beginXrun(.captureXrun, at: frame) }
      reportXrun(lost: all)
      unreportedLostFrames = 0
    } else if !isInAbsence {
      unreportedLostFrames &+= lost
    }
    isReturnReported = false
    if captureLostFrame != nil { absentLostFrames &+= lost }
    count(lostFrames: lost &+ (concealed ?? 0))
  }

  /// Reports that the device is back, and the `lost` frames for which it was away, before the cycle
  /// at `frame`; `concealed` as in `reportGap`.
  @_noLocks
  mutating func reportReturn(lost: Int, concealed: Int?, at frame: Int) {
    // An xrun between the return and the first frame; its gap is a part of the absence.
    reportXrun(lost: 0)
    _ = events.write(TimelineEvent(kind: .deviceReturned, frame: frame, frames: lost))
    isReturnReported = false
    count(lostFrames: lost &+ (concealed ?? 0))
  }

  /// Notes that the last cycle did not play its `frames` frames, for which the output had no room.
  @_noLocks
  mutating func noteDrop(_ frames: Int) { droppedFrames = frames }

  /// Whether the last cycle had a drop that is not counted yet.
  var hasDrop: Bool { @_noLocks get { droppedFrames > 0 } }

  /// Counts the frames that the cycle before `frame` did not play because the input's clock is
  /// faster. If the output has stopped, according to `readiness`, its recovery counts the xrun.
  @_noLocks
  mutating func reportDrop(before frame: Int, _ readiness: DeviceReadiness) {
    let frames = droppedFrames
    droppedFrames = 0
    switch readiness {
    case .xrun(.playbackXrun), .suspended, .lost: return
    case .ready, .waiting, .xrun: break
    }
    figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    count(lostFrames: frames)
    _ = events.write(TimelineEvent(kind: .playbackXrun, frame: frame &- frames, frames: frames))
  }

  // MARK: Xruns

  /// Counts an xrun before `frame`, whose gap a later cycle reports. If the device was restarted
  /// and has another one before its first frame, both are one xrun.
  @_noLocks
  mutating func beginXrun(_ kind: TimelineEvent.Kind, at frame: Int) {
    // Cycles ran after the last xrun, and its gap is still open; or the other direction had it.
    if xrun != nil, frame > xrunFrame || xrun != kind { reportXrun(lost: 0) }
    guard xrun == nil else {
      repeatedXruns &+= 1
      return
    }
    xrun = kind
    xrunFrame = frame
    count(xruns: 1)
  }

  /// Reports an xrun that was recovered, and the number of frames lost.
  @_noLocks
  private mutating func reportXrun(lost frames: Int) {
    guard let kind = xrun else { return }
    _ = events.write(TimelineEvent(kind: kind, frame: xrunFrame, frames: frames))
    xrun = nil
    repeatedXruns = 0
  }

  /// Reports an input that stopped while the output continued, and that has not started again: the
  /// timeline is silent from that position to `frame`.
  @_noLocks
  private mutating func reportOpenGap(at frame: Int) {
    guard xrun == .captureXrun, captureLostFrame == nil, frame > xrunFrame else { return }
    let silent = frame &- xrunFrame
    count(lostFrames: silent &- unreportedLostFrames)
    reportXrun(lost: silent)
    unreportedLostFrames = 0
  }

  // MARK: Absence

  /// Reports that one of several devices went away or came back while the others continued.
  @_noLocks
  mutating func report(_ event: DeviceEvent, at frame: Int) {
    var reported = TimelineEvent(
      kind: event.kind, frame: frame, frames: event.frames, outputIndex: event.outputIndex)
    switch event.kind {
    // An input that had stopped before is missing from the frame at which it stopped.
    case .captureLost:
      captureLostFrame = xrun == .captureXrun ? min(xrunFrame, frame) : frame
      absentLostFrames = 0
    case .playbackLost: playbackLostFrame = frame
    case .captureReturned:
      reported.frame = captureLostFrame ?? frame
      captureLostFrame = nil
      // The event includes the frames up to the next cycle.
      isReturnReported = true
    case .playbackReturned: playbackLostFrame = nil
    case .playbackXrun: figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    default: break
    }
    count(lostFrames: event.silentFrames)
    _ = events.write(reported)
  }

  /// Ends the report of an xrun, because the whole device is gone.
  @_noLocks
  mutating func endXrun(at frame: Int) {
    reportOpenGap(at: frame)
    reportXrun(lost: 0)
  }

  /// Reports that the whole device went away.
  @_noLocks
  mutating func reportLoss(at frame: Int) {
    _ = events.write(TimelineEvent(kind: .deviceLost, frame: frame, frames: 0))
  }

  /// Reports, at the end of the run, that the whole device is away for its last `frames` frames.
  @_noLocks
  mutating func reportAbsence(at frame: Int, frames: Int) {
    _ = events.write(TimelineEvent(kind: .deviceAbsent, frame: frame, frames: frames))
    count(lostFrames: frames)
  }

  // MARK: End

  /// Writes the reports that are still due at the end of the run, at `frame`.
  @_noLocks
  mutating func close(at frame: Int, _ readiness: DeviceReadiness) {
    if hasDrop { reportDrop(before: frame, readiness) }
    reportOpenGap(at: frame)
    // The device was restarted again and again, and never delivered a frame.
    count(xruns: repeatedXruns)
    reportXrun(lost: 0)
    // One of two devices is away and did not come back.
    if let lost = captureLostFrame {
      count(lostFrames: frame &- lost &- absentLostFrames)
      _ = events.write(TimelineEvent(kind: .captureAbsent, frame: lost, frames: frame &- lost))
    }
    if playbackLostFrame != nil {
      _ = events.write(TimelineEvent(kind: .playbackAbsent, frame: frame, frames: 0))
    }
    captureLostFrame = nil
    playbackLostFrame = nil
  }

  /// Counts xruns of the direction of the open one.
  @_noLocks
  private func count(xruns: Int) {
    if xrun == .playbackXrun {
      figures.pointee.playbackXruns.add(xruns, ordering: .relaxed)
    } else {
      figures.pointee.captureXruns.add(xruns, ordering: .relaxed)
    }
  }

  /// Counts frames that were not captured, or were captured and not played.
  @_noLocks
  private func count(lostFrames: Int) {
    guard lostFrames > 0 else { return }
    figures.pointee.lostFrames.wrappingAdd(lostFrames, ordering: .relaxed)
  }
}
