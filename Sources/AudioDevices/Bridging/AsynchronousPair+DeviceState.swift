// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The state of each of the two devices: xruns, loss and reconnection, and their effect on the
/// other.
extension AsynchronousPair {
  /// Reads the positions of both devices. Returns a failure of either device; nil if there is none.
  @_noLocks
  mutating func poll(at now: UInt64) -> DeviceReadiness? {
    pollOutput(at: now) ?? pollInput(at: now)
  }

  @_noLocks
  private mutating func pollOutput(at now: UInt64) -> DeviceReadiness? {
    if output.reattach(&bridge, at: now) { playbackEvent = DeviceEvent(.playbackReturned) }
    switch output.poll(&bridge, at: now) {
    case nil: return nil
    case .lost?:
      guard survivesDeviceLoss else { return .lost }
      handleOutputLoss()
      return nil
    case .suspended?:
      isCaptureBroken = !isInputAway
      return .suspended
    case let trouble?: return trouble
    }
  }

  @_noLocks
  private mutating func pollInput(at now: UInt64) -> DeviceReadiness? {
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

  /// Discards captured frames for whose positions silence was already delivered.
  @_noLocks
  private mutating func skipRepeated(at now: UInt64) {
    while repeatedFrames > 0, captured > 0 {
      let frames = min(repeatedFrames, min(captured, capturePeriod))
      guard capture.frames(frames, at: now) != nil, capture.commit(frames) else { return }
      captured -= frames
      repeatedFrames -= frames
    }
  }

  /// Resets the state of an input that was started and is empty.
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
    guard survivesDeviceLoss else { return .lost }
    handleInputLoss()
    return nil
  }

  /// Detaches the input, which is lost.
  @_noLocks
  mutating func handleInputLoss() {
    capture.detach()
    isInputAway = true
    isGapConcealed = false
    isCaptureBroken = false
    captured = 0
    // A device that was back only briefly counts as away since its first loss.
    guard disconnectFrame == nil else { return }
    disconnectFrame = head
    captureEvent = DeviceEvent(.captureLost)
  }

  /// Detaches the output, which is lost.
  @_noLocks
  mutating func handleOutputLoss() {
    output.detach()
    playbackEvent = DeviceEvent(.playbackLost)
  }

  /// Records a reading of the input. After a restart, the input's frame 0 is placed at the present
  /// position of its extrapolated clock. The distance to the last delivered frame is the gap. If
  /// silence was delivered beyond that position, as many frames of the input are discarded.
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
      if let start = disconnectFrame { endReconnection(from: start) }
    }
    bridge.noteInput(
      ClockReading(frames: captureStart + reading.frames, nanoseconds: reading.nanoseconds))
    measurePositionError(at: reading.nanoseconds)
  }

  /// Returns the position of the input's frame 0 after a restart, of which `reading` is the first
  /// reading. A reading is late: the device has already advanced further. The position is corrected
  /// by the error of the position after the previous gap.
  @_noLocks
  private mutating func placeOfStart(_ reading: ClockReading) -> Int {
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
  private mutating func measurePositionError(at now: UInt64) {
    let age = now &- begunTime
    guard let correctPosition, age > 200_000_000, age < 4_000_000_000,
      bridge.input.estimate.begunNanoseconds <= begunTime
    else { return }
    positionError = bridge.input.frames(at: begunTime) - correctPosition
  }

  /// Adapts the delay to the steps in which the input delivers, once its clock is known. Soon after
  /// its start the delay is set at once. Later it is adjusted gradually.
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
      clamping: Double(arrival.allowedFrames &- minimumArrivalFrames) * unitPerCapture + 0.999)
    let seconds =
      (configuredLatencyFrames + Double(addedFrames)) / Double(shape.sampleRate)
    bridge.hold(delaySeconds: seconds, jumping: isLearning)
  }

  /// The number of frames by which the frames that the input has delivered fall short of a cycle.
  /// An input that is the master is not late before these are due.
  private var spareFrames: Int {
    @_noLocks get { isPlaybackMaster ? 0 : max(0, shape.periodFrames &- captured) }
  }

  /// Returns whether the input started so recently that its delay is not correct yet.
  @_noLocks
  func isInputFresh(at now: UInt64) -> Bool { now &- begunTime < 200_000_000 }

  @_noLocks
  private mutating func endReconnection(from start: Int) {
    disconnectFrame = nil
    let frames = Int(clamping: Double(head - start) * unitPerCapture + 0.5)
    captureEvent = DeviceEvent(
      .captureReturned, frames: frames,
      silentFrames: isPlaybackMaster ? frames : silentFrames)
    silentFrames = 0
  }

  /// Returns an event of one of the devices that was not reported yet; nil if there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    let event = captureEvent ?? playbackEvent
    if captureEvent == nil { playbackEvent = nil } else { captureEvent = nil }
    return event
  }
}
