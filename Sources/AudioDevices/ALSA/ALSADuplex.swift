// Audio thread.

import AudioBasics
import CALSA
import RealtimeAudio

/// Two ALSA PCMs as one duplex device, or a single PCM.
///
/// Capture leads: the unit wakes once a period, when the input has a period. The output was filled
/// ahead by a period and the headroom. This keeps the delay from input to output at exactly P + H
/// frames.
public struct ALSADuplex: DuplexDriver, ~Copyable {
  /// The function that the audio thread calls.
  public static let function: DriverFunction = callALSADuplex
  /// The configuration that was granted.
  public private(set) var configuration: DuplexConfiguration
  /// Whether the directions are those of two cards, or of a card and a sound server, which a name
  /// in ALSA's configuration can combine. They need a bridge (`AsynchronousPair`).
  public var hasTwoClocks: Bool {
    @_noLocks get { pcms.hasTwoClocks }
  }
  private var periodTime: UInt64 = 0
  var pcms: PCMPair
  private let shape: DuplexShape
  var wakeUp: PollSet?
  /// The number of frames that must be available (or free) for a wake-up to count.
  private let wakeFrames: Int
  let places: DeviceLocations
  /// An xrun or a failure that was detected in the middle of a cycle, for the next wait.
  private var pendingReadiness: DeviceReadiness?
  private var correction = LatencyCorrection(expected: 0)
  /// The number of frames from input to output as the driver counts them, at the last check of a
  /// start.
  private var reportedLatencyFrames = 0
  /// Without input: the number of frames committed before the start, and whether the start was
  /// made.
  private var primedFrames = 0
  private var isStarted = false
  /// The sleeps that ended with an error although the device reports none.
  private var failedSleeps = ConsecutiveFailures()
  /// The refusals of frames for which there should have been room.
  private var refusals = ConsecutiveFailures()
  private var restarts = RestartsWithoutProgress()
  private var pause: OutputPause
  /// A server's input that was started again and has not delivered frames yet: its cards, and the
  /// time of the start in nanoseconds.
  var returning: (cards: [Int], nanoseconds: UInt64)?
  /// The number of frames left after the last cycle read its own, or `Int.max` if it is not known.
  /// The device is polled before the wait only if enough frames are left or the number is not
  /// known.
  private var leftover = Int.max
  var losses: LostFrameCounter

  init(
    _ pcms: consuming PCMPair, configuration: DuplexConfiguration, wakeUp: consuming PollSet,
    request: DuplexRequest
  ) {
    wakeFrames = wakeUp.availableFrames
    places = DeviceLocations(request)
    self.pcms = pcms
    self.configuration = configuration
    shape = DuplexShape(configuration)
    losses = LostFrameCounter(configuration.capture, sampleRate: configuration.sampleRate)
    let server = configuration.capture == nil ? configuration.playback : nil
    pause = OutputPause(
      bufferFrames: server?.isServer == true ? server?.bufferFrames ?? 0 : 0,
      sampleRate: configuration.sampleRate)
    self.wakeUp = consume wakeUp
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { HostClock.nanoseconds }
  }

  /// Starts both directions together. Throws if a device does not start or went away.
  public mutating func start() throws(DeviceFailure) {
    try pcms.prepare()
    pendingReadiness = nil
    failedSleeps.end()
    leftover = .max
    losses.restart()
    pause.restart()
    primedFrames = 0
    isStarted = shape.hasCapture
    let ahead = shape.playbackAheadFrames
    correction = LatencyCorrection(expected: ahead)
    guard isStarted else { return }
    try pcms.start(ahead: ahead)
    if periodTime == 0 { losses.begin(at: now) }
  }

  /// Sleeps until the next period is available, or for that time, rounded up to whole milliseconds.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = wait(milliseconds: Self.milliseconds(nanoseconds))
    status.hasEvents = pause.isUnreported
    status.periodTime = periodTime
    status.readyTime = periodTime
    status.reportedLatencyFrames = reportedLatencyFrames
    guard case .ready = status.readiness else { return }
    status.lostFrames = losses.take()
  }

  /// Returns the timeout for `poll` in milliseconds; -1 for no limit.
  @_noLocks
  private static func milliseconds(_ nanoseconds: UInt64) -> Int32 {
    nanoseconds > 1_000_000_000_000
      ? -1 : Int32(truncatingIfNeeded: (nanoseconds &+ 999_999) / 1_000_000)
  }

  @_noLocks
  private mutating func wait(milliseconds: Int32) -> DeviceReadiness {
    if let found = pendingReadiness {
      pendingReadiness = nil
      // A device that is ready but delivers nothing would otherwise keep this thread busy.
      if case .waiting = found { HostClock.sleep(until: now &+ 1_000_000) }
      return found
    }
    var attempts = 0
    while attempts < 8 {
      attempts &+= 1
      let hasSlept = isStarted && leftover < wakeFrames
      if hasSlept {
        leftover = .max
        switch wakeUp?.sleep(milliseconds: milliseconds) ?? .timedOut {
        case .due: break
        case .timedOut: return .waiting
        case .failed: return checkFailedSleep()
        }
      }
      var available = pcms.available()
      // The `plug` plugin counts the frames that a server's plugin has moved only if it is polled
      // explicitly.
      if hasSlept && available >= 0 && available < wakeFrames && wakeUp?.isHardware == false {
        available = pcms.availableNow()
      }
      if available < 0 { return diagnosis(of: available, onCapture: shape.hasCapture) }
      if isStarted {
        if available >= wakeFrames { return ready(available) }
        leftover = available
        if hasSlept {
          wakeUp?.rest(missing: wakeFrames &- available, sampleRate: shape.sampleRate)
        }
      } else if primedFrames < shape.periodFrames &+ shape.headroomFrames
        && available >= shape.periodFrames
      {
        return ready(available)
      } else {
        // Enough frames are queued, or no further period fits in the buffer.
        guard pcms.playback?.startNow() ?? false else { return .lost }
        isStarted = true
      }
    }
    return .waiting
  }

  /// Handles a sleep that ended with an error. The mapped pages may still show no error, so the
  /// kernel is polled.
  @_noLocks
  private mutating func checkFailedSleep() -> DeviceReadiness {
    let answer = pcms.availableNow()
    if answer < 0 { return diagnosis(of: answer, onCapture: shape.hasCapture) }
    return failedSleeps.note() ? .lost : .waiting
  }

  @_noLocks
  private mutating func ready(_ available: Int) -> DeviceReadiness {
    periodTime = HostClock.nanoseconds
    failedSleeps.end()
    // Frames handed over before the start do not move yet.
    if isStarted {
      restarts.end()
      pause.note(readyAt: periodTime)
    }
    if losses.isGapOpen {
      let (captured, nanoseconds) =
        pcms.capture?.stamped(available, at: periodTime) ?? (0, periodTime)
      losses.closeGap(captured: captured, at: nanoseconds)
    }
    if shape.hasCapture {
      leftover = available &- shape.periodFrames
      losses.note(captured: available, taking: shape.periodFrames, at: periodTime)
    }
    if correction.isChecking, shape.canProveStart {
      let captured = pcms.capture?.availableNow() ?? 0
      let room = pcms.playback?.availableNow() ?? 0
      if captured >= 0 && room >= 0 {
        correction.note(captured: captured, queued: shape.playbackBufferFrames &- room)
        // Both delays include the frames in converters and cables, as far as their driver knows
        // them.
        reportedLatencyFrames = (pcms.capture?.delay() ?? 0) &+ (pcms.playback?.delay() ?? 0)
      }
    }
    return .ready
  }

  /// Lends the next captured frames. Returns nil if they are not available or the device failed.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    guard let lent = pcms.capture?.borrowFrames(frames) else {
      losses.undoRead(shape.periodFrames)
      pendingReadiness = diagnosis(of: pcms.capture?.availableNow() ?? 0, onCapture: true)
      return nil
    }
    return lent
  }

  /// Releases captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    let isDone = pcms.release(frames)
    note(isDone, available: isDone ? 0 : pcms.capture?.availableNow() ?? 0, onCapture: true)
  }

  /// Lends room for the next frames to play. Returns nil if the device failed or its buffer is
  /// full.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    // Linked directions stop together, and the input's state was just read. If the ring ends within
    // the frames, only those before its end are known to be free.
    if shape.isLinked && correction.frames == 0,
      let lent = pcms.playback?.borrowFrames(frames) ?? nil, lent.firstCount == frames
    {
      return lent
    }
    var available = pcms.playback?.available() ?? 0
    // The output's interrupt may come after the input's, so that the mapped page is outdated: the
    // kernel is polled.
    if available >= 0 && available < frames { available = pcms.playback?.availableNow() ?? 0 }
    if correction.frames < 0 && available > frames {
      // The silence never displaces the frames that are due.
      let played = pcms.playSilence(
        min(0 &- correction.frames, min(available &- frames, shape.periodFrames)))
      correction.noteSilence(played)
      available &-= played
    }
    if available < 0 {
      pendingReadiness = diagnosis(of: available, onCapture: false)
      return nil
    }
    // There is no room: the input is ahead. Frames that do not fit are not played, so that the
    // delay stays bounded.
    return available < frames ? nil : pcms.playback?.borrowFrames(frames) ?? nil
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    let isDone = pcms.commit(frames &- correction.takeDrop(of: frames))
    note(isDone, available: isDone ? 0 : pcms.playback?.availableNow() ?? 0, onCapture: false)
    if !isStarted { primedFrames &+= frames }
  }

  /// Returns the event of an output that has paused; nil if there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? { pause.takeEvent() }

  /// Returns nil: the device has no secondary outputs.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }

  /// Records whether frames were released or handed over. If not, `available` is the device's count
  /// or its error code. The number of frames lost is known after the next start. A device that
  /// refuses frames 17 times in succession is lost, whatever it reports.
  @_noLocks
  private mutating func note(_ isDone: Bool, available: Int, onCapture: Bool) {
    guard !isDone else {
      refusals.end()
      return
    }
    pendingReadiness = diagnosis(of: available, onCapture: onCapture)
    if case .waiting? = pendingReadiness {
      pendingReadiness = .xrun(onCapture ? .captureXrun : .playbackXrun)
    }
    if refusals.note() { pendingReadiness = .lost }
  }

  /// Returns the meaning of an error code of one direction for both.
  @_noLocks
  private func diagnosis(of code: Int, onCapture: Bool) -> DeviceReadiness {
    switch Int32(truncatingIfNeeded: 0 &- code) {
    case EPIPE:
      // A linked pair stops together. The output holds less, so it is the direction that ran dry.
      let playbackFirst = shape.hasPlayback && shape.isLinked
      return .xrun(playbackFirst || !onCapture ? .playbackXrun : .captureXrun)
    case ESTRPIPE: return .suspended
    case 0, EAGAIN, EINTR: return .waiting
    default: return code > 0 ? .waiting : .lost
    }
  }

  /// Starts both directions again after an xrun or a suspension, at the same latency. Throws if a
  /// device cannot be started again; `.lost` if it went away.
  public mutating func recover() throws(DeviceFailure) {
    if shape.hasCapture { losses.openGap(pcms.stoppedInput()) }
    pcms.drop()
    pcms.resume()
    guard configuration.isServer else { return try start() }
    restarts.note()
    guard !restarts.areTooMany else { throw .serverGone(configuration.deviceNames) }
    do throws(DeviceFailure) {
      try start()
    } catch {
      throw .serverGone(configuration.deviceNames)
    }
  }

  /// Stops both directions. With `draining`, an output without input first plays the queued frames.
  public mutating func stop(draining: Bool) {
    if draining, !shape.hasCapture {
      if !isStarted, primedFrames > 0 { isStarted = pcms.playback?.startNow() ?? false }
      if isStarted { pcms.playback?.drain() }
    }
    pcms.capture?.stop()
    pcms.playback?.stop()
  }
}

@_noLocks
private func callALSADuplex(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: ALSADuplex.self), storing: answer)
}
