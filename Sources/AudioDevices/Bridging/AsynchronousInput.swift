// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// An input before a bridge. It may stop, stall or go away, and come back.
///
/// Its frames have positions on its clock, gaps included. While it delivers no frames, its clock is
/// extrapolated. When it runs again, its first frame is placed on that clock, and the distance to
/// the last delivered frame is the gap. If silence was delivered beyond that position, as many of
/// its frames are discarded.
struct AsynchronousInput: ~Copyable {
  private var input: DeviceStream
  /// Whether the input is the clock master: its frames are the unit's frames.
  private let isMaster: Bool
  private let unitPeriodFrames: Int
  /// The number of unit frames for one frame of the input.
  private let unitPerFrame: Double
  private let periodFrames: Int

  /// The position on the input's clock of the next frame that it lends.
  private(set) var head = 0
  /// The number of frames that the input has available.
  private(set) var available = 0
  /// The number of frames that must still be discarded, because silence was delivered in their
  /// place.
  private var repeatedFrames = 0
  private var placement = InputPlacement()
  private(set) var delay: InputDelay
  private(set) var staged: StagedFrames
  private var stallDetector: StallDetector
  /// Whether the input must be started again.
  var needsRestart = false
  private var absence = InputAbsence()
  private var catchUp: InputCatchUp
  /// The silence that is lent while the input is away.
  private let silence: DeviceBuffer
  /// The frames that were lost or replaced by silence.
  var losses = InputLosses()

  /// Wraps `input` for a unit of this shape, whose configuration states a delay of
  /// `latencyFrames`. That delay allows for frames that arrive `arrivalFrames` late.
  init(
    _ input: consuming DeviceStream, isMaster: Bool, _ shape: DuplexShape, latencyFrames: Double,
    arrivalFrames: Int
  ) {
    let stream = input.configuration
    self.isMaster = isMaster
    unitPeriodFrames = shape.periodFrames
    let unitPerFrame = Double(shape.sampleRate) / Double(stream.sampleRate)
    self.unitPerFrame = unitPerFrame
    periodFrames = stream.periodFrames
    delay = InputDelay(
      latencyFrames: latencyFrames, arrivalFrames: arrivalFrames,
      maximumArrivalFrames: max(arrivalFrames, stream.bufferFrames / 2),
      unitPerFrame: unitPerFrame, unitSampleRate: shape.sampleRate)
    stallDetector = StallDetector(periodFrames: stream.periodFrames, sampleRate: stream.sampleRate)
    catchUp = InputCatchUp(
      bufferFrames: stream.bufferFrames, periodFrames: stream.periodFrames,
      sampleRate: stream.sampleRate, seconds: stream.catchUpSeconds ?? 0)
    staged = StagedFrames(frameCount: stream.periodFrames, channelCount: stream.channelCount)
    silence = DeviceBuffer(
      format: stream.format, channelCount: stream.channelCount, frameCount: shape.periodFrames)
    self.input = input
  }

  // MARK: Start, loss and return

  /// Starts the input for the first time. Throws if it does not start.
  mutating func start(at now: UInt64) throws(DeviceFailure) {
    head = 0
    staged.removeAll()
    try restart(at: now, isGapConcealed: false)
  }

  /// Starts the input again after a gap, which is replaced by silence if it `isGapConcealed`.
  /// Throws if it does not start.
  mutating func restart(at now: UInt64, isGapConcealed: Bool) throws(DeviceFailure) {
    try input.start(silence: 0, at: now)
    begin(at: now)
    losses.beginGap(isConcealed: isGapConcealed)
  }

  /// Resets the state of an input that was started and is empty.
  @_noLocks
  private mutating func begin(at now: UInt64) {
    available = 0
    repeatedFrames = 0
    delay.restart()
    placement.restart()
    catchUp.restart()
    needsRestart = false
    stallDetector.begin(at: now)
  }

  /// Enables the search for a lost input. Returns whether the input can be detached from now on.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
    input.enableReconnection(reportingTo: news)
  }

  /// Makes the search for a lost input end.
  mutating func endReconnection() { input.endReconnection() }

  /// Stops the input at once.
  mutating func stop() { input.stop() }

  /// Detaches the input, which is lost.
  @_noLocks
  mutating func detach() {
    input.detach()
    absence.begin(at: head)
    losses.beginGap(isConcealed: false)
    needsRestart = false
    available = 0
  }

  /// Reattaches the input if it was away and is back.
  @_noLocks
  mutating func reattach(at now: UInt64) {
    guard isAway, input.reattach(at: now) != nil else { return }
    absence.reattach()
    begin(at: now)
  }

  // MARK: Clock

  /// Reads the position of the input, unless it is away. Returns a failure of the input; nil if
  /// there is none.
  @_noLocks
  mutating func poll(_ bridge: inout ClockDomainBridge, at now: UInt64) -> DeviceReadiness? {
    guard !isAway else { return nil }
    switch input.readState(at: now) {
    case .running(let reading, let available):
      self.available = available
      if reading.frames > 0 {
        let behind = catchUp.keepsFrames ? framesBehind(reading, &bridge) : 0
        switch catchUp.note(behind: behind, at: now) {
        case .current:
          note(reading, &bridge)
          discardRepeated(at: now)
          noteArrival(&bridge, at: now)
        case .behind:
          discardRepeated(at: now)
          delay.restart()
        case .failed:
          needsRestart = true
          return .xrun(.captureXrun)
        }
      }
      switch stallDetector.note(reading.frames, at: now) {
      case .advancing: return nil
      case .stalled: break
      case .neverStarted: return .lost
      }
    case .xrun: break
    case .suspended:
      needsRestart = true
      return .suspended
    case .lost: return .lost
    }
    needsRestart = true
    return .xrun(.captureXrun)
  }

  /// Returns the number of frames that the input's clock counts and a reading does not; 0 as long
  /// as the clock is not known.
  @_noLocks
  private func framesBehind(_ reading: ClockReading, _ bridge: inout ClockDomainBridge) -> Int {
    guard !placement.isPending, bridge.input.isRunning else { return 0 }
    let position = bridge.input.frames(at: reading.nanoseconds)
    return Int(clamping: position) &- (placement.start &+ reading.frames)
  }

  /// Records a reading of the input. The first one after a restart determines the gap.
  @_noLocks
  private mutating func note(_ reading: ClockReading, _ bridge: inout ClockDomainBridge) {
    if placement.isPending {
      let distance = placement.place(reading, after: head, &bridge)
      let gap = max(0, distance)
      head += gap
      repeatedFrames = gap - distance
      if isMaster { losses.addLost(gap) }
      losses.endGap(unitFrames(gap))
      bridge.restartInput()
      if let startFrame = absence.startFrame {
        absence.end(frames: unitFrames(head - startFrame), isMaster: isMaster)
      }
    }
    bridge.noteInput(
      ClockReading(frames: placement.start + reading.frames, nanoseconds: reading.nanoseconds))
    placement.measureError(&bridge, at: reading.nanoseconds)
  }

  /// Adapts the delay to the steps in which the input delivers, once its clock is known. Soon after
  /// its start the delay is set at once. Later it is adjusted gradually.
  @_noLocks
  private mutating func noteArrival(_ bridge: inout ClockDomainBridge, at now: UInt64) {
    let age = bridge.input.age(at: now)
    guard age > 0.2 else { return }
    let isLearning = placement.isLearning(at: now)
    // An input that is the master is not late before the frames of its next cycle are due.
    let spare = isMaster ? max(0, unitPeriodFrames &- available) : 0
    let seconds = delay.note(
      delivered: head &- repeatedFrames &+ available, spare: spare,
      clock: bridge.input.frames(at: now), clockSeconds: age, at: now, isLearning: isLearning)
    if let seconds { bridge.hold(delaySeconds: seconds, jumping: isLearning) }
  }

  /// Whether the input is detached until it is found again.
  var isAway: Bool {
    @_noLocks get { absence.isAway }
  }

  /// Whether the input delivers frames that its server kept while the program was paused.
  var isCatchingUp: Bool {
    @_noLocks get { catchUp.isActive && isDelivering }
  }

  /// Whether the input delivers frames.
  var isDelivering: Bool {
    @_noLocks get { !isAway && !placement.isPending }
  }

  /// The position after the last frame that it has available.
  var end: Int {
    @_noLocks get { head + available }
  }

  /// Returns whether the input started so recently that its delay is not correct yet.
  @_noLocks
  func isFresh(at now: UInt64) -> Bool { placement.isFresh(at: now) }

  /// Returns the duration of `frames` frames of the input in unit frames.
  @_noLocks
  private func unitFrames(_ frames: Int) -> Int {
    Int(clamping: Double(frames) * unitPerFrame + 0.5)
  }
}

/// The frames of the input, and what is reported of them to the unit.
extension AsynchronousInput {
  /// Lends the next frames, or silence while the input is away; nil if it fails.
  @_noLocks
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    isAway ? silence.frames(frames) : input.frames(frames, at: now)
  }

  /// Releases frames that were lent.
  @_noLocks
  mutating func release(_ frames: Int) {
    head += frames
    if isAway {
      absence.addSilence(frames)
    } else {
      _ = input.commit(frames)
      available -= frames
    }
  }

  /// Leaves out `frames` frames, which were not captured in time.
  @_noLocks
  mutating func skip(_ frames: Int) {
    head += frames
    losses.addLost(frames)
  }

  /// The position of the oldest frame that is still available, staged frames included.
  var first: Int {
    @_noLocks get { staged.count > 0 ? staged.position : head }
  }

  /// Stages at most a period. Returns false if there are no frames.
  @_noLocks
  mutating func stage(at now: UInt64) -> Bool {
    let frames = min(available, periodFrames)
    guard frames > 0, let lent = input.frames(frames, at: now) else { return false }
    staged.fill(from: lent, frames: frames, at: head)
    release(frames)
    return true
  }

  /// Removes the oldest `frames` staged frames.
  @_noLocks
  mutating func unstage(_ frames: Int) { staged.remove(frames) }

  /// Discards at most `frames` of the oldest frames, which are too late. Returns false if there are
  /// none.
  @_noLocks
  mutating func discard(_ frames: Int, at now: UInt64) -> Bool {
    guard staged.count > 0 || stage(at: now) else { return false }
    let count = min(frames, staged.count)
    unstage(count)
    return count > 0
  }

  /// Discards frames for whose positions silence was already delivered.
  @_noLocks
  private mutating func discardRepeated(at now: UInt64) {
    while repeatedFrames > 0, available > 0 {
      let frames = min(repeatedFrames, min(available, periodFrames))
      guard input.frames(frames, at: now) != nil, input.commit(frames) else { return }
      available -= frames
      repeatedFrames -= frames
    }
  }

  /// Records that `frames` frames were left out so that the delay is correct again.
  @_noLocks
  mutating func noteJump(_ frames: Int) {
    losses.addLost(unitFrames(frames))
    absence.noteJump(unitFrames(frames))
  }

  /// Records that `frames` frames were late and were replaced by silence, which is an overrun. The
  /// gap of an input that stalled or was away is known when it runs again.
  @_noLocks
  mutating func noteLateness(_ frames: Int, at now: UInt64) {
    // The converter had enough frames after all.
    guard frames > 0 else { return }
    if isDelivering && !needsRestart { losses.addConcealed(unitFrames(frames)) }
    losses.noteLateness(at: now, isReported: isDelivering)
  }

  /// Whether an event was not reported yet.
  var hasEvent: Bool {
    @_noLocks get { absence.hasEvent }
  }

  /// Returns an event that was not reported yet; nil if there is none.
  @_noLocks
  mutating func takeEvent() -> DeviceEvent? { absence.takeEvent() }
}
