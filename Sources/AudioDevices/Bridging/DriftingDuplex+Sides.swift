import AudioClocks
import RealtimeAudio

/// How the two devices do: what is seen of each, and what becomes of the other.
extension DriftingDuplex where Pair: ~Copyable {
  /// Asks both devices where they are.
  mutating func look(at now: UInt64) -> DeviceReadiness? {
    lookAtOutput(at: now) ?? lookAtInput(at: now)
  }

  private mutating func lookAtOutput(at now: UInt64) -> DeviceReadiness? {
    if output.takeBack(&pair, &bridge, at: now) { playbackNews = SideNews(.playbackReturned) }
    switch output.look(&pair, &bridge, at: now) {
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

  private mutating func lookAtInput(at now: UInt64) -> DeviceReadiness? {
    if isInputAway {
      guard pair.takeInputBack(at: now) else { return nil }
      isInputAway = false
      beginInput(at: now)
    }
    switch pair.lookAtInput(at: now) {
    case .running(let reading, let available):
      captured = available
      if reading.frames > 0 { note(reading) }
      switch inputMovement.note(reading.frames, at: now) {
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

  private mutating func lostInput() -> DeviceReadiness? {
    guard outlivesLoss else { return .lost }
    loseInput()
    return nil
  }

  /// The input is gone, and looked for.
  mutating func loseInput() {
    pair.partWithInput()
    isInputAway = true
    isGapBridged = false
    isCaptureBroken = false
    captured = 0
    // A device that was back for a moment only is away since the first time.
    guard awayHead == nil else { return }
    awayHead = head
    captureNews = SideNews(.captureLost)
  }

  /// The output is gone, and looked for.
  mutating func loseOutput() {
    output.part(with: &pair)
    playbackNews = SideNews(.playbackLost)
  }

  /// The input's clock went on while the input stood: its frames count from where that has come.
  private mutating func note(_ reading: ClockReading) {
    if isBeginning {
      isBeginning = false
      begunTime = reading.nanoseconds
      let place =
        bridge.input.isRunning
        ? Int(clamping: bridge.input.frames(at: reading.nanoseconds) + 0.5) - reading.frames : head
      let gap = max(0, place - head)
      head += gap
      captureStart = head
      if master == .capture { lostFrames += gap }
      if isGapBridged { bridgedFrames += Int(clamping: Double(gap) * lossScale + 0.5) }
      isGapBridged = false
      bridge.restartInput()
      if let start = awayHead { endAbsence(from: start) }
    }
    bridge.noteInput(
      ClockReading(frames: captureStart + reading.frames, nanoseconds: reading.nanoseconds))
  }

  private mutating func endAbsence(from start: Int) {
    awayHead = nil
    let frames = Int(clamping: Double(head - start) * lossScale + 0.5)
    captureNews = SideNews(
      .captureReturned, frames: frames,
      silentFrames: master == .playback ? frames : silentFrames)
    silentFrames = 0
  }

  /// What happened to one of the two since it was last asked.
  public mutating func takeNews() -> SideNews? {
    defer { if captureNews == nil { playbackNews = nil } else { captureNews = nil } }
    return captureNews ?? playbackNews
  }
}
