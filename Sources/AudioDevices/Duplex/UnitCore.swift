// Audio thread.
import RealtimeAudio

/// A unit without its callbacks: the timeline and the device. All code from wake-up to wake-up is
/// here and proven free of locks and allocation. Code that may take longer is in
/// `UnitRecovery.swift`.
///
/// A turn consists of `begin`; if a period is available, the callbacks between `takeInput`,
/// `prepareOutput`, `takeOutput` and `finishOutput`; and `end`.
@usableFromInline
struct UnitCore: ~Copyable {
  /// The result of one turn of the loop: a wait and, if a period is available, both callbacks.
  @usableFromInline
  enum Turn: BitwiseCopyable {
    /// A period is available: the callbacks are due.
    case cycle
    /// The callbacks ran.
    case ran
    /// No frame moved.
    case waiting
    /// The run has ended.
    case finished
    /// The device stopped after an xrun and must be started again.
    case xrun(TimelineEvent.Kind)
    /// The device is gone.
    case lost
    /// The device has moved no frame for longer than `UnitTimeouts` allow.
    case stalled
    /// The device is gone, and the unit waits for its return.
    case away
    /// The frame limit is reached while the device is away: the gap up to it is reported.
    case absent
  }

  var device: DuplexDevice
  let configuration: DuplexConfiguration
  let shape: DuplexShape
  let reconnects: Bool
  private let shared: SharedState<UnitFigures>
  var reports: TimelineReporter
  var status = DeviceStatus()
  private let secondaryCount: Int

  /// The position on the timeline at which the next cycle begins.
  var frame = 0
  private(set) var limit: RunLimit

  /// The current cycle: its time, its frame count, the position before it, and the borrowed memory.
  var time = CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0)
  var cycleFrames = 0
  private var firstFrame = 0
  private var hasPeriod = false
  var captured: DeviceFrames
  private var room: DeviceFrames
  let silentBuffer: DeviceBuffer
  /// The buffer that the output callback fills if the output has no room, and whether it does so
  /// now.
  private let droppedBuffer: DeviceBuffer
  private var isDropping = false
  /// Whether the input callback is due.
  @usableFromInline
  var hasInput = false

  private var turns = 0
  private var load = CycleLoad()
  var timeouts: UnitTimeouts
  var reconnectState = ReconnectState()
  var reconnectReport = ReconnectReport()

  init(
    _ device: consuming DuplexDevice, progress: borrowing UnitProgress,
    events: consuming EventWriter<TimelineEvent>, frameLimit: Int, fadeFrames: Int,
    reconnects: Bool,
    resuming resumption: CycleTime? = nil
  ) {
    let granted = device.configuration
    let silentBuffer = DeviceBuffer(
      format: .floatLE, channelCount: granted.capture?.channelCount ?? 1, frameCount: 1)
    captured = silentBuffer.frames(0)
    room = silentBuffer.frames(0)
    self.silentBuffer = silentBuffer
    droppedBuffer = DeviceBuffer(
      format: .floatLE, channelCount: granted.playback?.channelCount ?? 1,
      frameCount: granted.playback == nil ? 1 : granted.periodFrames)
    configuration = granted
    shape = DuplexShape(granted)
    self.reconnects = reconnects
    limit = RunLimit(frame: frameLimit, fadeFrames: fadeFrames)
    timeouts = UnitTimeouts(hasTwoClocks: granted.master != nil)
    secondaryCount = granted.secondaryOutputs.count
    shared = progress.share()
    shared.pointer.pointee.secondaryCount.store(secondaryCount, ordering: .relaxed)
    reports = TimelineReporter(events, progress.share())
    self.device = device
    if reconnects {
      self.device.enableReconnection(reportingTo: shared.pointer.pointee.returning)
    }
    guard let resumption else { return }
    frame = resumption.frame
    reconnectState = ReconnectState(resuming: resumption)
    shared.pointer.pointee.frames.store(frame, ordering: .relaxed)
  }

  mutating func start() throws(DeviceFailure) {
    try device.start()
    timeouts.restart(at: device.now)
    reconnectState.note(device.now)
    figures.pointee.isStarted.store(true, ordering: .relaxed)
  }

  var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  /// Waits for the device and, if a period is available, prepares its cycle.
  @usableFromInline @_noLocks
  mutating func begin() -> Turn {
    turns &+= 1
    figures.pointee.turns.store(turns, ordering: .relaxed)
    if !limit.isStopping && figures.pointee.stopRequested.load(ordering: .relaxed) {
      limit.stop(at: frame)
      // The session ends here: no frames are invented for the time until now.
      if reconnectState.isAway { reports.reportAbsence(at: frame, frames: 0) }
    }
    guard frame < limit.frame, !limit.isEnded else {
      closeReports()
      return .finished
    }
    if reconnectState.isAway {
      guard limit.isStopping else { return .away }
      closeReports()
      return .finished
    }
    RealtimeContext.enter()
    device.wait(&status)
    if reports.hasDrop { reports.reportDrop(before: frame, status.readiness) }
    if status.hasEvents {
      while let event = device.takeEvent() { reports.report(event, at: frame) }
    }
    if case .ready = status.readiness {
      prepare()
      return .cycle
    }
    RealtimeContext.leave()
    switch status.readiness {
    case .ready, .waiting:
      return reconnectState.isOpen && !limit.isStopping && isAbsentToTheEnd ? .absent : idle()
    case .xrun(let kind): return .xrun(kind)
    case .suspended: return .xrun(shape.hasCapture ? .captureXrun : .playbackXrun)
    case .lost: return .lost
    }
  }

  /// Advances the timeline over the lost frames, and borrows the captured frames.
  @_noLocks
  private mutating func prepare() {
    firstFrame = frame
    let isReturn = reconnectState.end()
    var lost = status.lostFrames
    if isReturn, shape.hasCapture {
      lost &+= reconnectState.takeGap(until: status.periodTime, shape)
    }
    lost = min(lost, limit.frame &- frame)
    if isReturn {
      reports.reportReturn(lost: lost, concealed: status.concealedFrames, at: frame)
    } else {
      reports.reportGap(lost: lost, concealed: status.concealedFrames, at: frame)
    }
    reconnectState.note(status.periodTime)
    frame &+= lost
    cycleFrames = min(shape.periodFrames, limit.frame &- frame)
    time = CycleTime(frame: frame, nanoseconds: status.periodTime, lostFrames: lost)
    hasPeriod = cycleFrames > 0
    hasInput = shape.hasCapture
    guard hasInput else { return }
    captured = silentBuffer.frames(0)
    guard hasPeriod else { return }
    if let lent = device.capturedFrames(cycleFrames) {
      captured = lent
    } else {
      // No frames are available after all: the lost frames are reported without captured frames.
      hasPeriod = false
      cycleFrames = 0
      hasInput = lost > 0
    }
  }

  /// Returns the cycle for the input callback.
  @usableFromInline @_noLocks
  mutating func takeInput() -> InputCycle {
    hasInput = false
    figures.pointee.isInCallback.store(true, ordering: .relaxed)
    return InputCycle(time: time, frames: captured, frameCount: cycleFrames)
  }

  /// Records that the input callback has returned.
  @usableFromInline @_noLocks
  func finishInput() { figures.pointee.isInCallback.store(false, ordering: .relaxed) }

  /// Borrows room to play. Returns whether the output callback is due.
  @usableFromInline @_noLocks
  mutating func prepareOutput() -> Bool {
    guard hasPeriod else { return false }
    guard shape.hasPlayback else {
      finishPeriod(played: cycleFrames)
      return false
    }
    if let lent = device.playbackRoom(cycleFrames) {
      room = lent
      return true
    }
    hasPeriod = false
    // Without input no frames were read: the next wait reports the cause.
    guard shape.hasCapture else { return false }
    // The captured frames are still processed, so that code that counts or records the played
    // frames loses none.
    isDropping = true
    room = droppedBuffer.frames(cycleFrames)
    return true
  }

  /// Returns the cycle for the output callback.
  @usableFromInline @_noLocks
  mutating func takeOutput() -> OutputCycle {
    figures.pointee.isInCallback.store(true, ordering: .relaxed)
    return OutputCycle(
      time: time, room: room, frameCount: cycleFrames, framesLeft: limit.frame &- time.frame)
  }

  /// Passes the frames that the callback filled to the device.
  @usableFromInline @_noLocks
  mutating func finishOutput(_ output: inout OutputCycle) {
    figures.pointee.isInCallback.store(false, ordering: .relaxed)
    output.complete()
    if output.nanCount > 0 {
      figures.pointee.nanCount.add(output.nanCount, ordering: .relaxed)
    }
    limit.isEnded = output.isLast
    let played = output.playedFrames
    guard !isDropping else {
      isDropping = false
      return drop(cycleFrames)
    }
    device.commit(played)
    finishPeriod(played: played)
  }

  @_noLocks
  private mutating func finishPeriod(played: Int) {
    if shape.hasCapture { device.release(cycleFrames) }
    let moved = shape.hasCapture ? cycleFrames : played
    frame &+= moved
    if moved > 0 { timeouts.endRecovery() }
  }

  /// Ends a cycle for which the output had no room: its frames are not played. The next wait
  /// reports the cause.
  @_noLocks
  private mutating func drop(_ frames: Int) {
    device.release(frames)
    frame &+= frames
    reports.noteDrop(frames)
    timeouts.endRecovery()
  }

  /// Publishes the figures of the cycle.
  @usableFromInline @_noLocks
  mutating func end() -> Turn {
    figures.pointee.frames.store(frame, ordering: .relaxed)
    figures.pointee.reportedLatencyFrames.store(status.reportedLatencyFrames, ordering: .relaxed)
    if let drift = status.drift { publish(drift) }
    var index = 0
    while index < secondaryCount {
      if let reading = device.secondaryReading(index) {
        figures.pointee.publish(reading, of: index)
      }
      index &+= 1
    }
    // A cycle in which no frame moved is none: a device that is ready without a frame has stalled.
    guard frame != firstFrame || limit.isEnded else {
      RealtimeContext.leave()
      return idle()
    }
    load.add(device.now &- status.readyTime, to: shared.pointer.pointee)
    RealtimeContext.leave()
    timeouts.noteCycle(readyAt: status.readyTime)
    return .ran
  }

  /// Handles a turn in which no frame moved.
  @_noLocks
  private mutating func idle() -> Turn {
    switch timeouts.noteIdleTurn(at: device.now, isStopping: limit.isStopping) {
    case .tolerated: return .waiting
    case .stalled: return .stalled
    case .stopped:
      closeReports()
      return .finished
    }
  }

  /// Writes the reports that are still due at the end of the run.
  @_noLocks
  mutating func closeReports() { reports.close(at: frame, status.readiness) }

  /// Whether the limit is reached while the device delivers nothing. Without input the timeline
  /// counts the played frames and does not advance.
  var isAbsentToTheEnd: Bool {
    @_noLocks get {
      shape.hasCapture
        && reconnectState.frames(until: device.now, sampleRate: shape.sampleRate)
          >= limit.frame &- frame
    }
  }

  @_noLocks
  private func publish(_ drift: DriftReading) {
    figures.pointee.drift.publish(drift)
    figures.pointee.hasDrift.store(true, ordering: .relaxed)
  }
}

/// The end of a unit's run on the timeline.
struct RunLimit: BitwiseCopyable {
  /// The position at which the last cycle ends; `.max` if there is no limit.
  private(set) var frame: Int
  /// The number of frames for which the run continues after a stop request.
  private let fadeFrames: Int
  /// Whether a stop was requested.
  private(set) var isStopping = false
  /// Whether the output callback ended the run.
  var isEnded = false

  /// Creates the end of a run of at most `frame` frames.
  @_noLocks
  init(frame: Int, fadeFrames: Int) {
    self.frame = frame
    self.fadeFrames = fadeFrames
  }

  /// Ends the run after the fade-out because a stop was requested at `now`.
  @_noLocks
  mutating func stop(at now: Int) {
    isStopping = true
    frame = min(frame, now &+ fadeFrames)
  }
}
