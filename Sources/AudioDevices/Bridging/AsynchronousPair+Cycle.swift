// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The calls of a pair on the audio thread: waiting for a period, and lending its frames.
extension AsynchronousPair {
  /// The current time that both devices use, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { time.now }
  }

  /// The number of frames of the headroom that are left when the pair no longer waits for a late
  /// input.
  private var lastMoment: Int {
    @_noLocks get { shape.headroomFrames / 4 }
  }

  /// Sleeps until the master has a period, and then fills the status.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = wait(noLongerThan: min(nanoseconds, 100_000_000))
    status.hasEvents = hasEvents
    guard case .ready = status.readiness else { return }
    status.periodTime = periodTime
    status.readyTime = periodTime
    status.lostFrames = input.losses.takeLost()
    status.concealedFrames = input.losses.takeConcealed()
    status.reportedLatencyFrames = input.delay.latencyFrames
    status.drift = bridge.reading(at: time.now)
    status.drift?.addedFrames = input.delay.addedFrames
    mutedFrames = output.isLocking ? mutedFrames &+ shape.periodFrames : 0
    status.drift?.mutedFrames = mutedFrames
    status.unitClock = unitClock
  }

  @_noLocks
  private mutating func wait(noLongerThan nanoseconds: UInt64) -> DeviceReadiness {
    let limit = time.now &+ nanoseconds
    if input.losses.takeLateness() { return .xrun(.captureXrun) }
    while true {
      let now = time.now
      if let readiness = poll(at: now) { return readiness }
      if hasEvents { return .waiting }
      if !isPlaybackMaster { concealInput(at: now) }
      let due = isPlaybackMaster ? playbackDue(at: now) : captureDue(at: now)
      if due <= now { return ready(at: now) }
      if now >= limit { return .waiting }
      // A clock whose readings are noisy is read more often than once a period.
      let isNoisy = bridge.input.isNoisy || bridge.output.isNoisy
      let end = min(limit, isNoisy ? min(due, FilteredClock.nextReadTime(after: now)) : due)
      time.sleep(until: end)
      // The sleep was interrupted: the thread that interrupted it waits for a response.
      if time.now < end { return .waiting }
    }
  }

  /// The master's clock, which is known more accurately than the times at which cycles begin,
  /// because cycles wait for room or for the input.
  private var unitClock: UnitClock? {
    @_noLocks get {
      isPlaybackMaster
        ? UnitClock(
          bridge.output.estimate, due: bridge.writtenFrames - shape.headroomFrames,
          epoch: bridge.epoch)
        : UnitClock(bridge.input.estimate, due: input.head + shape.periodFrames, epoch: 0)
    }
  }

  /// Returns the time at which the next cycle may begin, or the devices must be read again.
  @_noLocks
  private mutating func playbackDue(at now: UInt64) -> UInt64 {
    let soon = now &+ UInt64(shape.periodFrames) &* 125_000_000 / UInt64(shape.sampleRate)
    guard bridge.output.isRunning else { return soon }
    // A sound server delivers the frames that it kept during a pause of this program. While the
    // output is silent, the pair waits for all of these frames.
    noteKeptFrames()
    if !output.isPlaying && !hasKeptFrames { catchUp(at: now) }
    let due = bridge.output.nanoseconds(
      at: Double(bridge.writtenFrames - shape.headroomFrames), from: now)
    if due > now { return due }
    guard !output.isPlaying || output.room >= shape.periodFrames else { return soon }
    guard isShort else { return now }
    if hasKeptFrames { return soon }
    // A missing input is replaced by silence before the output underruns.
    let last = bridge.output.nanoseconds(at: underrunLimit, from: now)
    return last <= now ? now : min(last, soon)
  }

  /// Notes whether the input has frames that its server kept, until all of them were read, or the
  /// output plays.
  @_noLocks
  private mutating func noteKeptFrames() {
    if output.isPlaying || !input.isDelivering {
      hasKeptFrames = false
    } else if input.isCatchingUp {
      hasKeptFrames = true
    } else if isShort {
      hasKeptFrames = false
    }
  }

  /// Whether the input has not advanced far enough for a period.
  private var isShort: Bool {
    @_noLocks mutating get {
      bridge.isAligned && input.isDelivering && input.end < bridge.needed(for: shape.periodFrames)
    }
  }

  @_noLocks
  private mutating func captureDue(at now: UInt64) -> UInt64 {
    if input.available >= shape.periodFrames { return now }
    let soon = now &+ UInt64(shape.periodFrames) &* 125_000_000 / UInt64(shape.sampleRate)
    guard bridge.hasReadings, bridge.isAligned else { return soon }
    if input.isAway { catchUp(at: now) }
    let due = bridge.input.nanoseconds(at: Double(input.head + shape.periodFrames), from: now)
    if input.isAway { return due }
    return max(soon, min(due, bridge.output.nanoseconds(at: underrunLimit, from: now)))
  }

  /// Leaves out cycles if only the host's clock provides the time and the machine was stopped for
  /// half a second or more.
  @_noLocks
  private mutating func catchUp(at now: UInt64) {
    if isPlaybackMaster {
      let late =
        Int(clamping: bridge.output.frames(at: now)) - (bridge.writtenFrames - shape.headroomFrames)
      if late > shape.sampleRate / 2 { bridge.advanceOutput(late) }
    } else {
      let late = Int(clamping: bridge.input.frames(at: now)) - (input.head + shape.periodFrames)
      if late > shape.sampleRate / 2 { input.skip(late) }
    }
  }

  /// The position of the output at which it is about to run dry.
  private var underrunLimit: Double {
    @_noLocks get { Double(bridge.writtenFrames - lastMoment) }
  }

  /// Plays silence if the input is the master and is late, so that the output continues.
  @_noLocks
  private mutating func concealInput(at now: UInt64) {
    guard bridge.isAligned, bridge.hasReadings, input.available < shape.periodFrames,
      bridge.output.frames(at: now) >= underrunLimit
    else { return }
    _ = bridge.steer(frames: shape.periodFrames, at: now)
    play(from: bridge.consumedFrames + shape.periodFrames, frames: 0)
  }

  @_noLocks
  private mutating func ready(at now: UInt64) -> DeviceReadiness {
    periodTime = now
    isDelivered = false
    if isPlaybackMaster {
      let jumped = bridge.steer(frames: shape.periodFrames, at: now)
      input.noteJump(jumped)
      if jumped > 0 { inputGain.set(.silence) }
      if isShort { bridge.slowDown(shape.periodFrames, to: input.end) }
    }
    return .ready
  }

  /// Lends the next frames of the input: unchanged, or resampled to the output's clock.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    if !isPlaybackMaster { return input.frames(frames, at: time.now) }
    if !isDelivered {
      isDelivered = true
      resample(frames)
    }
    return unitFrames.lent(frames)
  }

  @_noLocks
  private mutating func resample(_ frames: Int) {
    var done = 0
    var isMissing = false
    while bridge.hasReadings, done < frames {
      let missing = input.first - bridge.consumedFrames
      var moved = (consumed: 0, produced: 0)
      if missing > 0 {
        isMissing = true
        moved = bridge.convertSilence(missing, into: &unitFrames, at: done, room: frames - done)
      } else if missing < 0, input.discard(-missing, at: time.now) {
        continue
      } else if missing == 0, input.staged.count > 0 || input.stage(at: time.now) {
        moved = bridge.convert(
          input.staged.buffer, from: input.staged.first, frames: input.staged.count,
          into: &unitFrames,
          at: done, room: frames - done)
        input.unstage(moved.consumed)
      } else {
        done += bridge.convertAhead(into: &unitFrames, at: done, room: frames - done)
        if done == frames { break }
        // The input is very late or gone.
        isMissing = true
        moved = bridge.convertSilence(frames, into: &unitFrames, at: done, room: frames - done)
        input.noteLateness(moved.consumed, at: periodTime)
      }
      done += moved.produced
      guard moved.consumed > 0 || moved.produced > 0 else { break }
    }
    if done < frames { unitFrames.clear(from: done, frames: frames - done) }
    applyFadeIn(frames, isMissing: isMissing)
  }

  /// Mutes an input that was away until its delay is correct again, then fades it in.
  @_noLocks
  private mutating func applyFadeIn(_ frames: Int, isMissing: Bool) {
    inputGain.process(&unitFrames, frames: frames)
    if isMissing || (input.isFresh(at: periodTime) && abs(bridge.errorFrames) > 2) {
      inputGain.set(.silence)
    } else if inputGain.isSilent {
      inputGain.ramp(to: .unity, frames: configuration.sampleRate / 100)
    }
  }

  /// Releases captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    if !isPlaybackMaster { input.release(frames) }
  }

  /// Lends room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    isPlaybackMaster
      ? output.room(for: frames, at: time.now) : unitFrames.lent(frames)
  }

  /// Hands frames over to be played: unchanged, or resampled to the output's clock.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    if isPlaybackMaster { return output.commit(frames, &bridge) }
    _ = bridge.steer(frames: frames, at: time.now)
    guard bridge.hasReadings else { return }
    play(from: input.head, frames: frames)
  }

  /// Converts the frames that were played for input frame `position` and after, and hands them
  /// over.
  @_noLocks
  private mutating func play(from position: Int, frames: Int) {
    output.play(unitFrames, at: position, frames: frames, &bridge, at: time.now)
  }

  /// Returns nil: the device has no secondary outputs.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }
}

@_noLocks
func callAsynchronousPair(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: AsynchronousPair.self), storing: answer)
}
