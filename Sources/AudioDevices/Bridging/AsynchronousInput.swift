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
  /// The unit's period and rate.
  private let unitPeriodFrames: Int
  private let unitSampleRate: Int
  /// The number of unit frames for one frame of the input.
  private let unitPerFrame: Double
  private let periodFrames: Int
  /// The part of the delay that allows for an input that delivers its frames in steps.
  private var arrival: ArrivalDelay
  private let minimumArrivalFrames: Int
  /// The delay according to the configuration, in unit frames.
  private let configuredLatencyFrames: Double
  /// The number of unit frames by which the steps of the input make the delay longer than the
  /// configuration states.
  private(set) var addedFrames = 0

  /// The positions on the input's clock of the next frame that it lends and of its last start.
  private(set) var head = 0
  private var start = 0
  /// The number of frames that the input has available.
  private(set) var available = 0
  /// The number of frames that must still be discarded, because silence was delivered in their
  /// place.
  private var repeatedFrames = 0
  /// Whether the input was started and has not delivered frames yet, and the time of its first
  /// frames.
  private var isBeginning = true
  private var begunTime: UInt64 = 0
  /// The correct position of the input at that time, on its clock before the gap, and the number of
  /// frames by which it was placed too far ahead.
  private var correctPosition: Double?
  private var positionError = 0.0
  private var stallDetector: StallDetector
  /// Whether the input must be started again.
  var isBroken = false
  /// Whether the input is detached until it is found again.
  private(set) var isAway = false
  /// The position of the input when it went away, and the number of frames of silence lent in its
  /// place since then.
  private var disconnectFrame: Int?
  private var silentFrames = 0
  /// The event that must still be reported to the unit.
  private var event: DeviceEvent?

  /// The frames that were lost or replaced by silence.
  var losses = InputLosses()

  /// The frames that were read from the input and are not converted yet: the range in the buffer,
  /// and the position of its first frame.
  private(set) var staged: SampleBuffer
  private(set) var stagedFirst = 0
  private(set) var stagedCount = 0
  private var stagedPosition = 0
  /// The silence that is lent while the input is away.
  private let silence: DeviceBuffer

  /// Wraps `input` for a unit of this shape, whose configuration states a delay of
  /// `latencyFrames`. That delay allows for frames that arrive `arrivalFrames` late.
  init(
    _ input: consuming DeviceStream, isMaster: Bool, _ shape: DuplexShape, latencyFrames: Double,
    arrivalFrames: Int
  ) {
    let stream = input.configuration
    self.isMaster = isMaster
    unitPeriodFrames = shape.periodFrames
    unitSampleRate = shape.sampleRate
    unitPerFrame = Double(shape.sampleRate) / Double(stream.sampleRate)
    periodFrames = stream.periodFrames
    arrival = ArrivalDelay(
      minimumFrames: arrivalFrames, maximumFrames: max(arrivalFrames, stream.bufferFrames / 2))
    minimumArrivalFrames = arrivalFrames
    configuredLatencyFrames = latencyFrames
    stallDetector = StallDetector(periodFrames: stream.periodFrames, sampleRate: stream.sampleRate)
    staged = SampleBuffer(frameCount: stream.periodFrames, channelCount: stream.channelCount)
    silence = DeviceBuffer(
      format: stream.format, channelCount: stream.channelCount, frameCount: shape.periodFrames)
    self.input = input
  }

  // MARK: Start, loss and return

  /// Starts the input for the first time. Throws if it does not start.
  mutating func start(at now: UInt64) throws(DeviceFailure) {
    head = 0
    stagedCount = 0
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
    arrival.restart()
    isBeginning = true
    isBroken = false
    stallDetector.begin(at: now)
  }

  /// Enables the search for a lost input. Returns whether the input can be detached from now on.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
    input.enableReconnection(reportingTo: news)
  }

  /// Stops the input at once.
  mutating func stop() { input.stop() }

  /// Detaches the input, which is lost.
  @_noLocks
  mutating func detach() {
    input.detach()
    isAway = true
    losses.beginGap(isConcealed: false)
    isBroken = false
    available = 0
    // A device that was back only briefly counts as away since its first loss.
    guard disconnectFrame == nil else { return }
    disconnectFrame = head
    event = DeviceEvent(.captureLost)
  }

  /// Reattaches the input if it was away and is back.
  @_noLocks
  mutating func reattach(at now: UInt64) {
    guard isAway, input.reattach(at: now) != nil else { return }
    isAway = false
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
        note(reading, &bridge)
        discardRepeated(at: now)
        noteArrival(&bridge, at: now)
      }
      switch stallDetector.note(reading.frames, at: now) {
      case .moving: return nil
      case .standing: break
      case .dead: return .lost
      }
    case .xrun: break
    case .suspended:
      isBroken = true
      return .suspended
    case .lost: return .lost
    }
    isBroken = true
    return .xrun(.captureXrun)
  }

  /// Records a reading of the input. The first one after a restart determines the gap.
  @_noLocks
  private mutating func note(_ reading: ClockReading, _ bridge: inout ClockDomainBridge) {
    if isBeginning {
      isBeginning = false
      begunTime = reading.nanoseconds
      start = placeOfStart(reading, &bridge)
      let gap = max(0, start - head)
      head += gap
      repeatedFrames = head - start
      if isMaster { losses.addLost(gap) }
      losses.endGap(unitFrames(gap))
      bridge.restartInput()
      if let disconnectFrame { endReconnection(from: disconnectFrame) }
    }
    bridge.noteInput(
      ClockReading(frames: start + reading.frames, nanoseconds: reading.nanoseconds))
    measurePositionError(&bridge, at: reading.nanoseconds)
  }

  /// Returns the position of the input's frame 0 after a restart, of which `reading` is the first
  /// reading. A reading is late: the device has already advanced further. The position is corrected
  /// by the error of the position after the previous gap.
  @_noLocks
  private mutating func placeOfStart(
    _ reading: ClockReading, _ bridge: inout ClockDomainBridge
  ) -> Int {
    guard bridge.input.isRunning else {
      correctPosition = nil
      return head
    }
    let position = bridge.input.frames(at: reading.nanoseconds) - positionError
    correctPosition = position
    positionError = 0
    return Int(clamping: position - bridge.input.lateness + 0.5) - reading.frames
  }

  /// Measures by how many frames the input was placed too far ahead after its last gap. From 0.2 to
  /// 4 s after the gap, the estimate of its clock is more accurate, and is evaluated for the time
  /// of the restart, as long as the clock runs at the same rate.
  @_noLocks
  private mutating func measurePositionError(
    _ bridge: inout ClockDomainBridge, at now: UInt64
  ) {
    let age = now &- begunTime
    guard let correctPosition, age > 200_000_000, age < 4_000_000_000,
      bridge.input.estimate.begunNanoseconds <= begunTime
    else { return }
    positionError = bridge.input.frames(at: begunTime) - correctPosition
  }

  /// Adapts the delay to the steps in which the input delivers, once its clock is known. Soon after
  /// its start the delay is set at once. Later it is adjusted gradually.
  @_noLocks
  private mutating func noteArrival(_ bridge: inout ClockDomainBridge, at now: UInt64) {
    let age = bridge.input.age(at: now)
    guard age > 0.2 else { return }
    let isLearning = now &- begunTime < 700_000_000
    // An input that is the master is not late before the frames of its next cycle are due.
    let spare = isMaster ? max(0, unitPeriodFrames &- available) : 0
    guard
      arrival.note(
        delivered: head &- repeatedFrames &+ available, spare: spare,
        clock: bridge.input.frames(at: now), clockSeconds: age, at: now, isLearning: isLearning)
    else { return }
    addedFrames = Int(
      clamping: Double(arrival.allowedFrames &- minimumArrivalFrames) * unitPerFrame + 0.999)
    let seconds = (configuredLatencyFrames + Double(addedFrames)) / Double(unitSampleRate)
    bridge.hold(delaySeconds: seconds, jumping: isLearning)
  }

  @_noLocks
  private mutating func endReconnection(from start: Int) {
    disconnectFrame = nil
    let frames = unitFrames(head - start)
    event = DeviceEvent(
      .captureReturned, frames: frames, silentFrames: isMaster ? silentFrames : frames)
    silentFrames = 0
  }

  /// The delay from input to output in unit frames, rounded.
  var latencyFrames: Int {
    @_noLocks get { Int(clamping: configuredLatencyFrames + 0.5) &+ addedFrames }
  }

  /// Whether the input delivers frames.
  var isGoing: Bool {
    @_noLocks get { !isAway && !isBeginning }
  }

  /// The position after the last frame that it has available.
  var end: Int {
    @_noLocks get { head + available }
  }

  /// Returns whether the input started so recently that its delay is not correct yet.
  @_noLocks
  func isFresh(at now: UInt64) -> Bool { now &- begunTime < 200_000_000 }

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
      silentFrames += frames
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
    @_noLocks get { stagedCount > 0 ? stagedPosition : head }
  }

  /// Stages at most a period. Returns false if there are no frames.
  @_noLocks
  mutating func stage(at now: UInt64) -> Bool {
    let frames = min(available, min(periodFrames, staged.frameCount))
    guard frames > 0, let lent = input.frames(frames, at: now) else { return false }
    lent.decode(from: 0, frames: frames, into: &staged, at: 0)
    stagedPosition = head
    stagedFirst = 0
    stagedCount = frames
    release(frames)
    return true
  }

  /// Removes the oldest `frames` staged frames.
  @_noLocks
  mutating func unstage(_ frames: Int) {
    stagedFirst += frames
    stagedPosition += frames
    stagedCount -= frames
  }

  /// Discards at most `frames` of the oldest frames, which are too late. Returns false if there are
  /// none.
  @_noLocks
  mutating func discard(_ frames: Int, at now: UInt64) -> Bool {
    guard stagedCount > 0 || stage(at: now) else { return false }
    let count = min(frames, stagedCount)
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
  mutating func noteJump(_ frames: Int) { losses.addLost(unitFrames(frames)) }

  /// Records that `frames` frames were late and were replaced by silence, which is an overrun. The
  /// gap of an input that stalled or was away is known when it runs again.
  @_noLocks
  mutating func noteLateness(_ frames: Int, at now: UInt64) {
    // The converter had enough frames after all.
    guard frames > 0 else { return }
    if isGoing && !isBroken { losses.addConcealed(unitFrames(frames)) }
    losses.noteLateness(at: now, isReported: isGoing)
  }

  /// Whether an event was not reported yet.
  var hasEvent: Bool {
    @_noLocks get { event != nil }
  }

  /// Returns an event that was not reported yet; nil if there is none.
  @_noLocks
  mutating func takeEvent() -> DeviceEvent? {
    defer { event = nil }
    return event
  }
}
