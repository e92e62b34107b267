import AudioBasics
import AudioClocks
import RealtimeAudio

/// What runs on the audio thread.
extension AsynchronousPair where Pair: ~Copyable {
  /// A late input is waited for until so much of the headroom is left.
  private var lastMoment: Int { shape.headroomFrames / 4 }

  /// Sleeps until the master has a period.
  public mutating func wait() -> DeviceReadiness { wait(noLongerThan: 100_000_000) }

  /// The same, for so many nanoseconds at most.
  public mutating func wait(noLongerThan nanoseconds: UInt64) -> DeviceReadiness {
    let limit = pair.now &+ nanoseconds
    if isLateUntold {
      isLateUntold = false
      return .xrun(.captureXrun)
    }
    while true {
      let now = pair.now
      if let trouble = look(at: now) { return trouble }
      if captureEvents != nil || playbackEvents != nil { return .waiting }
      if master == .capture { bridgeSilence(at: now) }
      let due = master == .playback ? playbackDue(at: now) : captureDue(at: now)
      if due <= now { return ready(at: now) }
      if now >= limit { return .waiting }
      // A clock whose readings are noisy is read more often than once a period.
      let isNoisy = bridge.input.isNoisy || bridge.output.isNoisy
      let end = min(limit, isNoisy ? min(due, now &+ FilteredClock.lookNanoseconds) : due)
      pair.sleep(until: end)
      // Interrupted: whoever did that wants an answer.
      if pair.now < end { return .waiting }
    }
  }

  /// The master's clock, which is known better than when cycles begin: they wait for room, or for
  /// the input.
  public var unitClock: UnitClock? {
    master == .playback
      ? UnitClock(
        bridge.output, due: bridge.end - shape.headroomFrames, numbering: bridge.numbering)
      : UnitClock(bridge.input, due: head + shape.periodFrames, numbering: 0)
  }

  /// When the next cycle may begin, or the next look is worth while.
  private mutating func playbackDue(at now: UInt64) -> UInt64 {
    let soon = now &+ UInt64(shape.periodFrames) &* 125_000_000 / UInt64(shape.sampleRate)
    guard bridge.output.isRunning else { return soon }
    if !output.isGoing { catchUp(at: now) }
    let due = bridge.output.nanoseconds(at: Double(bridge.end - shape.headroomFrames), from: now)
    if due > now { return due }
    guard !output.isGoing || output.room >= shape.periodFrames else { return soon }
    guard isShort else { return now }
    // No input is worth running dry for.
    let last = bridge.output.nanoseconds(at: dryEnd, from: now)
    return last <= now ? now : min(last, soon)
  }

  /// Whether the input has not come far enough for a period.
  private var isShort: Bool {
    bridge.isAligned && !isInputAway && !isBeginning
      && head + captured < bridge.needed(for: shape.periodFrames)
  }

  private mutating func captureDue(at now: UInt64) -> UInt64 {
    if captured >= shape.periodFrames { return now }
    let soon = now &+ UInt64(shape.periodFrames) &* 125_000_000 / UInt64(shape.sampleRate)
    guard bridge.knowsTime, bridge.isAligned else { return soon }
    if isInputAway { catchUp(at: now) }
    let due = bridge.input.nanoseconds(at: Double(head + shape.periodFrames), from: now)
    if isInputAway { return due }
    return max(soon, min(due, bridge.output.nanoseconds(at: dryEnd, from: now)))
  }

  /// Where nothing gives the time but the host's clock, and the machine has stood for half a second
  /// or more, the cycles of that time are left out.
  private mutating func catchUp(at now: UInt64) {
    if master == .playback {
      let late = Int(clamping: bridge.output.frames(at: now)) - (bridge.end - shape.headroomFrames)
      if late > shape.sampleRate / 2 { bridge.advanceOutput(late) }
    } else {
      let late = Int(clamping: bridge.input.frames(at: now)) - (head + shape.periodFrames)
      guard late > shape.sampleRate / 2 else { return }
      head += late
      lostFrames += late
    }
  }

  /// Where the output will have come to when it is about to run dry.
  private var dryEnd: Double { Double(bridge.end - lastMoment) }

  /// If the input, as master, does not come, the output goes on with silence in its place.
  private mutating func bridgeSilence(at now: UInt64) {
    guard bridge.isAligned, bridge.knowsTime, captured < shape.periodFrames,
      bridge.output.frames(at: now) >= dryEnd
    else { return }
    _ = bridge.steer(frames: shape.periodFrames, at: now)
    play(from: bridge.fed + shape.periodFrames, frames: 0)
  }

  /// Where the oldest captured frame that is still to be had lies.
  private var first: Int { stagedCount > 0 ? stagedPlace : head }

  private mutating func ready(at now: UInt64) -> DeviceReadiness {
    periodTime = now
    isDelivered = false
    if master == .playback {
      let jumped = bridge.steer(frames: shape.periodFrames, at: now)
      lostFrames += Int(clamping: Double(jumped) * lossScale + 0.5)
      if jumped > 0 { inputSoft.mute() }
      if isShort { bridge.stretch(shape.periodFrames, to: head + captured) }
    }
    return .ready
  }

  /// The next frames of the input: its own, or resampled to the output's clock.
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    if master == .capture {
      return isInputAway ? nothing.frames(frames) : pair.capturedFrames(frames)
    }
    if !isDelivered {
      isDelivered = true
      resample(frames)
      delivered.store(unitFrames, from: 0, frames: frames)
    }
    return delivered.frames(frames)
  }

  private mutating func resample(_ frames: Int) {
    var done = 0
    var isMissing = false
    while bridge.knowsTime, done < frames {
      let missing = first - bridge.fed
      var moved = (consumed: 0, produced: 0)
      if missing > 0 {
        isMissing = true
        moved = bridge.convertSilence(missing, into: &unitFrames, at: done, room: frames - done)
      } else if missing < 0, discard(-missing) {
        continue
      } else if missing == 0, stagedCount > 0 || stage() {
        moved = bridge.convert(
          staged, from: stagedFirst, frames: stagedCount, into: &unitFrames, at: done,
          room: frames - done)
        unstage(moved.consumed)
      } else {
        done += bridge.convertAhead(into: &unitFrames, at: done, room: frames - done)
        if done == frames { break }
        // The input is very late or gone.
        isMissing = true
        moved = bridge.convertSilence(frames, into: &unitFrames, at: done, room: frames - done)
        noteLateness(moved.consumed)
      }
      done += moved.produced
      guard moved.consumed > 0 || moved.produced > 0 else { break }
    }
    if done < frames { unitFrames.clear(from: done, frames: frames - done) }
    soften(frames, isMissing: isMissing)
  }

  /// An input that was away is heard when its delay is right again, and not at once.
  private mutating func soften(_ frames: Int, isMissing: Bool) {
    inputSoft.apply(to: &unitFrames, frames: frames)
    let isFresh = periodTime &- begunTime < 200_000_000
    if isMissing || (isFresh && abs(bridge.errorFrames) > 2) {
      inputSoft.mute()
    } else {
      inputSoft.open()
    }
  }

  /// What comes too late for cycle after cycle is told once, as an overrun. The gap of an input
  /// that stood, or was away, is known when it goes again.
  private mutating func noteLateness(_ frames: Int) {
    // The converter had enough after all.
    guard frames > 0 else { return }
    if !isBeginning && !isCaptureBroken && !isInputAway {
      bridgedFrames += Int(clamping: Double(frames) * lossScale + 0.5)
    }
    let isNews = periodTime &- lateSince > 1_000_000_000
    lateSince = periodTime
    if isNews && !isBeginning && !isInputAway { isLateUntold = true }
  }

  /// Takes at most a period from the input. False where it has none.
  private mutating func stage() -> Bool {
    let frames = min(captured, min(capturePeriod, staged.frameCount))
    guard frames > 0, let lent = pair.capturedFrames(frames) else { return false }
    lent.decode(from: 0, frames: frames, into: &staged, at: 0)
    _ = pair.release(frames)
    captured -= frames
    stagedPlace = head
    head += frames
    stagedFirst = 0
    stagedCount = frames
    return true
  }

  /// Lets go of the oldest frames, which come too late. False where there are none.
  private mutating func discard(_ frames: Int) -> Bool {
    guard stagedCount > 0 || stage() else { return false }
    let count = min(frames, stagedCount)
    unstage(count)
    return count > 0
  }

  private mutating func unstage(_ frames: Int) {
    stagedFirst += frames
    stagedPlace += frames
    stagedCount -= frames
  }

  /// Gives captured frames back.
  public mutating func release(_ frames: Int) {
    guard master == .capture else { return }
    head += frames
    if isInputAway {
      silentFrames += frames
    } else {
      _ = pair.release(frames)
      captured -= frames
    }
  }

  /// Room for the next frames to play.
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    master == .playback
      ? output.room(for: frames, &pair, at: pair.now) : delivered.frames(frames)
  }

  /// Hands frames over to be played: as they are, or resampled to the output's clock.
  public mutating func commit(_ frames: Int) {
    if master == .playback { return output.commit(frames, &pair, &bridge) }
    delivered.load(frames: frames, into: &unitFrames, at: 0)
    _ = bridge.steer(frames: frames, at: pair.now)
    guard bridge.knowsTime else { return }
    play(from: head, frames: frames)
  }

  /// Converts what was played for input frame `place` and after, and hands it over.
  private mutating func play(from place: Int, frames: Int) {
    output.play(
      unitFrames, at: place, frames: frames, through: &converted, &pair, &bridge, at: pair.now)
  }
}

/// How the two devices do: what is seen of each, and what becomes of the other.
extension AsynchronousPair where Pair: ~Copyable {
  /// Asks both devices where they are.
  mutating func look(at now: UInt64) -> DeviceReadiness? {
    lookAtOutput(at: now) ?? lookAtInput(at: now)
  }

  private mutating func lookAtOutput(at now: UInt64) -> DeviceReadiness? {
    if output.reattach(&pair, &bridge, at: now) { playbackEvents = SideEvents(.playbackReturned) }
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
    captureEvents = SideEvents(.captureLost)
  }

  /// The output is gone, and looked for.
  mutating func loseOutput() {
    output.part(with: &pair)
    playbackEvents = SideEvents(.playbackLost)
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
      if let start = awayHead { endReconnection(from: start) }
    }
    bridge.noteInput(
      ClockReading(frames: captureStart + reading.frames, nanoseconds: reading.nanoseconds))
  }

  private mutating func endReconnection(from start: Int) {
    awayHead = nil
    let frames = Int(clamping: Double(head - start) * lossScale + 0.5)
    captureEvents = SideEvents(
      .captureReturned, frames: frames,
      silentFrames: master == .playback ? frames : silentFrames)
    silentFrames = 0
  }

  /// What happened to one of the two since it was last asked.
  public mutating func takeEvents() -> SideEvents? {
    defer { if captureEvents == nil { playbackEvents = nil } else { captureEvents = nil } }
    return captureEvents ?? playbackEvents
  }
}
