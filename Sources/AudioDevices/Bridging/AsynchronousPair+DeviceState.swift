// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The state of each of the two devices: xruns, loss and reconnect, and their effect on the other.
extension AsynchronousPair {
  /// Asks both devices where they are.
  @_noLocks
  mutating func look(at now: UInt64) -> DeviceReadiness? {
    lookAtOutput(at: now) ?? lookAtInput(at: now)
  }

  @_noLocks
  private mutating func lookAtOutput(at now: UInt64) -> DeviceReadiness? {
    if output.reattach(&bridge, at: now) { playbackEvent = DeviceEvent(.playbackReturned) }
    switch output.look(&bridge, at: now) {
    case nil: return nil
    case .lost?:
      guard outlivesLoss else { return .lost }
      loseOutput()
      return nil
    case .suspended?:
      isCaptureBroken = !isInputAway
      return .suspended
    case let trouble?: return trouble
    }
  }

  @_noLocks
  private mutating func lookAtInput(at now: UInt64) -> DeviceReadiness? {
    if isInputAway {
      guard capture.reattach(at: now) != nil else { return nil }
      isInputAway = false
      beginInput(at: now)
    }
    switch capture.readState(at: now) {
    case .running(let reading, let available):
      captured = available
      if reading.frames > 0 {
        note(reading)
        skipRepeated(at: now)
        noteArrival(at: now)
      }
      switch inputStallDetector.note(reading.frames, at: now) {
      case .moving: return nil
      case .standing: break
      case .dead: return lostInput()
      }
    case .xrun: break
    case .suspended:
      output.isBroken = !output.isAway
      isCaptureBroken = true
      return .suspended
    case .lost: return lostInput()
    }
    isCaptureBroken = true
    return .xrun(.captureXrun)
  }

  /// Lets go of what the input captured at places where silence was delivered already.
  @_noLocks
  private mutating func skipRepeated(at now: UInt64) {
    while repeatedFrames > 0, captured > 0 {
      let frames = min(repeatedFrames, min(captured, capturePeriod))
      guard capture.frames(frames, at: now) != nil, capture.commit(frames) else { return }
      captured -= frames
      repeatedFrames -= frames
    }
  }

  /// The input was started, and is empty.
  @_noLocks
  mutating func beginInput(at now: UInt64) {
    captured = 0
    repeatedFrames = 0
    arrival.restart()
    isBeginning = true
    isCaptureBroken = false
    inputStallDetector.begin(at: now)
  }

  @_noLocks
  private mutating func lostInput() -> DeviceReadiness? {
    guard outlivesLoss else { return .lost }
    loseInput()
    return nil
  }

  /// The input is gone, and looked for.
  @_noLocks
  mutating func loseInput() {
    capture.detach()
    isInputAway = true
    isGapConcealed = false
    isCaptureBroken = false
    captured = 0
    // A device that was back for a moment only is away since the first time.
    guard awayHead == nil else { return }
    awayHead = head
    captureEvent = DeviceEvent(.captureLost)
  }

  /// The output is gone, and looked for.
  @_noLocks
  mutating func loseOutput() {
    output.detach()
    playbackEvent = DeviceEvent(.playbackLost)
  }

  /// After a restart, the input's frame 0 is placed where its extrapolated clock is now; the
  /// distance to the last delivered frame is the gap. Where silence was delivered beyond that
  /// place, as many frames of the input are left out.
  @_noLocks
  private mutating func note(_ reading: ClockReading) {
    if isBeginning {
      isBeginning = false
      begunTime = reading.nanoseconds
      captureStart = placeOfStart(reading)
      let gap = max(0, captureStart - head)
      head += gap
      repeatedFrames = head - captureStart
      if !isPlaybackMaster { lostFrames += gap }
      if isGapConcealed { concealedFrames += Int(clamping: Double(gap) * unitPerCapture + 0.5) }
      isGapConcealed = false
      bridge.restartInput()
      if let start = awayHead { endReconnection(from: start) }
    }
    bridge.noteInput(
      ClockReading(frames: captureStart + reading.frames, nanoseconds: reading.nanoseconds))
    measurePlaceError(at: reading.nanoseconds)
  }

  /// Where the input's frame 0 lies after a restart, of which `reading` is the first. A reading is
  /// late: the device has come further by then. What the place after the gap before was off by is
  /// made up for.
  @_noLocks
  private mutating func placeOfStart(_ reading: ClockReading) -> Int {
    guard bridge.input.isRunning else {
      rightPlace = nil
      return head
    }
    let place = bridge.input.frames(at: reading.nanoseconds) - placeError
    rightPlace = place
    placeError = 0
    return Int(clamping: place - bridge.input.lateness + 0.5) - reading.frames
  }

  /// By how many frames the input was placed too far on after its last gap: what its clock, known
  /// better by then, says of that time from 0.2 to 4 s after it, as long as it runs at the same
  /// rate.
  @_noLocks
  private mutating func measurePlaceError(at now: UInt64) {
    let age = now &- begunTime
    guard let rightPlace, age > 200_000_000, age < 4_000_000_000,
      bridge.input.estimate.begunNanoseconds <= begunTime
    else { return }
    placeError = bridge.input.frames(at: begunTime) - rightPlace
  }

  /// Allows for the steps in which the input delivers, once its clock is known. Soon after its
  /// start the delay is set anew, later it is brought to what it should be.
  @_noLocks
  private mutating func noteArrival(at now: UInt64) {
    let age = bridge.input.age(at: now)
    guard age > 0.2 else { return }
    let isLearning = now &- begunTime < 700_000_000
    guard
      arrival.note(
        delivered: head &- repeatedFrames &+ captured, spare: spareFrames,
        clock: bridge.input.frames(at: now),
        clockSeconds: age, at: now, isLearning: isLearning)
    else { return }
    addedFrames = Int(
      clamping: Double(arrival.allowedFrames &- leastArrivalFrames) * unitPerCapture + 0.999)
    let seconds =
      (configuredLatencyFrames + Double(addedFrames)) / Double(shape.sampleRate)
    bridge.hold(delaySeconds: seconds, jumping: isLearning)
  }

  /// Frames by which what the input has delivered falls short of a cycle: as master it is not late
  /// before these are due.
  private var spareFrames: Int {
    @_noLocks get { isPlaybackMaster ? 0 : max(0, shape.periodFrames &- captured) }
  }

  /// Whether the input began so little ago that its delay is not right yet.
  @_noLocks
  func isInputFresh(at now: UInt64) -> Bool { now &- begunTime < 200_000_000 }

  @_noLocks
  private mutating func endReconnection(from start: Int) {
    awayHead = nil
    let frames = Int(clamping: Double(head - start) * unitPerCapture + 0.5)
    captureEvent = DeviceEvent(
      .captureReturned, frames: frames,
      silentFrames: isPlaybackMaster ? frames : silentFrames)
    silentFrames = 0
  }

  /// What happened to one of the two since it was last asked.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    let event = captureEvent ?? playbackEvent
    if captureEvent == nil { playbackEvent = nil } else { captureEvent = nil }
    return event
  }
}
