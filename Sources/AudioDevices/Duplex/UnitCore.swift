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
    /// The device has moved no frame for longer than `idle` allows.
    case stalled
    /// The device is gone, and the unit waits for its return.
    case away
    /// The frame limit is reached while the device is away: the gap up to it is reported.
    case absent
  }

  /// The time in nanoseconds for which a requested stop waits for a device that does not advance.
  static var stopTimeout: UInt64 { @_noLocks get { 200_000_000 } }
  /// The time in nanoseconds for which a device may be ready, or be recovered, without moving a
  /// frame.
  static var stallTimeout: UInt64 { @_noLocks get { 5_000_000_000 } }

  var device: DuplexDevice
  let configuration: DuplexConfiguration
  let shape: DuplexShape
  let reconnects: Bool
  var events: EventWriter<TimelineEvent>
  private let shared: SharedState<UnitFigures>
  var status = DeviceStatus()
  /// The time in nanoseconds for which no frame may move. It is longer for two devices with two
  /// clocks: they give up one device that stalls for `stallTimeout`, and continue with the other.
  private let stallLimit: UInt64
  private let secondaryCount: Int
  private let fadeFrames: Int

  /// The positions on the timeline at which the next cycle begins and the last cycle of the run
  /// ends.
  var frame = 0
  private(set) var frameLimit: Int
  private(set) var isStopping = false
  private var isEnded = false

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

  private var cycleCount = 0
  private var busyNanoseconds: UInt64 = 0
  private var busiestNanoseconds: UInt64 = 0
  /// The time at which the timeline last advanced, on the device's clock, and the number of turns
  /// since.
  var lastReady: UInt64 = 0
  private var idleTurns = 0
  private var turns = 0
  /// Time of the first recovery since the last successful cycle.
  var unrecoveredSince: UInt64?
  var reconnectState = ReconnectState()
  var reconnectReport = ReconnectReport()
  /// The positions on the timeline at which one of two devices went away; nil while it is present.
  var captureLostFrame: Int?
  var playbackLostFrame: Int?
  /// An xrun that was recovered and whose gap a later cycle reports, and the frame before which it
  /// occurred.
  var xrun: TimelineEvent.Kind?
  var xrunFrame = 0
  /// The number of xruns that were counted at `xrunFrame` after the first one.
  var repeatedXruns = 0
  /// The number of lost frames that no event has reported yet.
  var unreportedLostFrames = 0
  /// The number of captured frames of the last cycle for which the output had no room.
  var droppedFrames = 0
  /// Whether an event of this turn reported the return of the input and the number of lost frames.
  var isReturnReported = false

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
    self.fadeFrames = fadeFrames
    self.reconnects = reconnects
    self.frameLimit = frameLimit
    stallLimit = Self.stallTimeout &+ (granted.master == nil ? 0 : 500_000_000)
    secondaryCount = granted.secondaryOutputs.count
    shared = progress.share()
    shared.pointer.pointee.secondaryCount.store(secondaryCount, ordering: .relaxed)
    self.events = events
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
    lastReady = device.now
    reconnectState.note(device.now)
    figures.pointee.isStarted.store(true, ordering: .relaxed)
  }

  var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  /// Waits for the device and, if a period is available, prepares its cycle.
  @usableFromInline @_noLocks
  mutating func begin() -> Turn {
    turns &+= 1
    figures.pointee.turns.store(turns, ordering: .relaxed)
    if !isStopping && figures.pointee.stopRequested.load(ordering: .relaxed) {
      isStopping = true
      frameLimit = min(frameLimit, frame &+ fadeFrames)
      // The session ends here: no frames are invented for the time until now.
      if reconnectState.isAway {
        _ = events.write(TimelineEvent(kind: .deviceAbsent, frame: frame, frames: 0))
      }
    }
    guard frame < frameLimit, !isEnded else {
      closeReports()
      return .finished
    }
    if reconnectState.isAway {
      guard isStopping else { return .away }
      closeReports()
      return .finished
    }
    RealtimeContext.enter()
    device.wait(&status)
    if droppedFrames > 0 { reportDrop() }
    if status.hasEvents {
      while let event = device.takeEvent() { report(event) }
    }
    if case .ready = status.readiness {
      prepare()
      return .cycle
    }
    RealtimeContext.leave()
    switch status.readiness {
    case .ready, .waiting:
      return reconnectState.isOpen && !isStopping && isAbsentToTheEnd ? .absent : idle()
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
    lost = min(lost, frameLimit &- frame)
    // A gap is reported once, by the event that came first.
    if isReturn {
      _ = events.write(TimelineEvent(kind: .deviceReturned, frame: frame, frames: lost))
      xrun = nil
    } else if let bridged = status.concealedFrames {
      // Lost frames form a gap, whether or not an xrun was reported.
      let all = unreportedLostFrames &+ (isReturnReported ? 0 : lost) &+ bridged
      if all > 0, xrun == nil {
        (xrun, xrunFrame) = (.captureXrun, frame)
        figures.pointee.captureXruns.add(1, ordering: .relaxed)
      }
      reportXrun(lost: all)
      unreportedLostFrames = 0
    } else {
      unreportedLostFrames &+= lost
    }
    isReturnReported = false
    reconnectState.note(status.periodTime)
    frame &+= lost
    let missed = lost &+ (status.concealedFrames ?? 0)
    if missed > 0 { figures.pointee.lostFrames.add(missed, ordering: .relaxed) }
    cycleFrames = min(shape.periodFrames, frameLimit &- frame)
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
      time: time, room: room, frameCount: cycleFrames, framesLeft: frameLimit &- time.frame)
  }

  /// Passes the frames that the callback filled to the device.
  @usableFromInline @_noLocks
  mutating func finishOutput(_ output: inout OutputCycle) {
    figures.pointee.isInCallback.store(false, ordering: .relaxed)
    output.complete()
    if output.nanCount > 0 {
      figures.pointee.nanCount.add(output.nanCount, ordering: .relaxed)
    }
    isEnded = output.isLast
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
    if moved > 0 { unrecoveredSince = nil }
  }

  /// Ends a cycle for which the output had no room: its frames are not played. The next wait
  /// reports the cause.
  @_noLocks
  private mutating func drop(_ frames: Int) {
    device.release(frames)
    frame &+= frames
    droppedFrames = frames
    unrecoveredSince = nil
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
    guard frame != firstFrame || isEnded else {
      RealtimeContext.leave()
      return idle()
    }
    publishLoad(device.now &- status.readyTime)
    RealtimeContext.leave()
    lastReady = status.readyTime
    idleTurns = 0
    return .ran
  }

  /// Handles a turn in which no frame moved. This is allowed for `stallLimit`, or for `stopTimeout`
  /// if a stop was requested. A million waits that return at once count as a stall (during a stop,
  /// a thousand end the run), so that the thread does not spin.
  @_noLocks
  private mutating func idle() -> Turn {
    idleTurns &+= 1
    let silence = device.now &- lastReady
    if isStopping && (silence > Self.stopTimeout || idleTurns > 1000) {
      closeReports()
      return .finished
    }
    guard silence < stallLimit, idleTurns < 1_000_000 else {
      idleTurns = 0
      return .stalled
    }
    return .waiting
  }

  /// Whether the limit is reached while the device delivers nothing. Without input the timeline
  /// counts the played frames and does not advance.
  var isAbsentToTheEnd: Bool {
    @_noLocks get {
      shape.hasCapture
        && reconnectState.frames(until: device.now, sampleRate: shape.sampleRate)
          >= frameLimit &- frame
    }
  }

  @_noLocks
  private func publish(_ drift: DriftReading) {
    figures.pointee.drift.publish(drift)
    figures.pointee.hasDrift.store(true, ordering: .relaxed)
  }

  @_noLocks
  private mutating func publishLoad(_ nanoseconds: UInt64) {
    cycleCount &+= 1
    busyNanoseconds &+= nanoseconds
    busiestNanoseconds = max(busiestNanoseconds, nanoseconds)
    figures.pointee.cycles.store(cycleCount, ordering: .relaxed)
    figures.pointee.busyNanoseconds.store(busyNanoseconds, ordering: .relaxed)
    figures.pointee.busiestNanoseconds.store(busiestNanoseconds, ordering: .relaxed)
  }
}
