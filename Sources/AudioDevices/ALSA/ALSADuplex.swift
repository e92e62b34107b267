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
  public internal(set) var hasTwoClocks = false
  private var periodTime: UInt64 = 0
  var capture: PCM?
  var playback: PCM?
  private let shape: DuplexShape
  var wakeUp: PollSet?
  /// The number of frames that must be available (or free) for a wake-up to count.
  private let wakeFrames: Int
  /// The request, and the identities of its devices, by which they are found again.
  let request: DuplexRequest
  let places: DeviceLocations
  /// An xrun or a failure that was detected in the middle of a cycle.
  private var trouble: DeviceReadiness?
  private var proof = StartLatencyCheck(expected: 0)
  /// The number of frames from input to output as the driver counts them, at the last check of a
  /// start.
  private var reportedLatencyFrames = 0
  /// The number of frames that the output must still drop (positive) or add as silence (negative).
  private var correction = 0
  /// The number of frames written to the output since the start, minus those read from the input:
  /// the number of frames that both hold together.
  private var heldFrames = 0
  /// Without input: the number of frames committed before the start, and whether the start was
  /// made.
  private var primedFrames = 0
  private var isStarted = false
  private var stillness = 0
  /// The number of consecutive refusals of frames for which there should have been room.
  private var refusals = 0
  private var restarts = RestartsWithoutProgress()
  /// A server's input that was started again and has not delivered frames yet: its cards, and the
  /// time of the start in nanoseconds.
  var returning: (cards: [Int], nanoseconds: UInt64)?
  /// The number of frames left after the last cycle read its own, or `Int.max` if it is not known.
  /// The device is polled before the wait only if enough frames are left or the number is not
  /// known.
  private var leftover = Int.max
  var gap = XrunGapEstimator()
  /// The frames that a server's input loses without an xrun; nil for other inputs.
  private var dropped: DroppedFrameEstimator?
  private var lostFrames = 0

  init(
    capture: consuming PCM?, playback: consuming PCM?, configuration: DuplexConfiguration,
    wakeUp: consuming PollSet, request: DuplexRequest
  ) {
    wakeFrames = wakeUp.availableFrames
    self.request = request
    places = DeviceLocations(request)
    self.capture = capture
    self.playback = playback
    self.configuration = configuration
    shape = DuplexShape(configuration)
    if let stream = configuration.capture, let seconds = stream.catchUpSeconds {
      dropped = DroppedFrameEstimator(
        capacity: stream.bufferFrames, sampleRate: stream.sampleRate, catchUpSeconds: seconds)
    }
    self.wakeUp = consume wakeUp
  }

  /// The device's clock, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { HostClock.nanoseconds }
  }

  /// Starts both directions together. Throws if a device does not start or went away.
  public mutating func start() throws(DeviceFailure) {
    try capture?.prepare()
    try playback?.prepare()
    trouble = nil
    correction = 0
    stillness = 0
    leftover = .max
    dropped?.restart()
    primedFrames = 0
    isStarted = shape.hasCapture
    let ahead = shape.playbackAheadFrames
    heldFrames = ahead
    proof = StartLatencyCheck(expected: ahead)
    guard isStarted else { return }
    try playback?.queueSilence(ahead)
    try capture?.start()
    if !shape.isLinked { try playback?.start() }
    // Time counts from here until the first wake-up is known.
    if periodTime == 0 { gap.note(captured: 0, taking: 0, at: now) }
  }

  /// Sleeps until the next period is available, or for that time, rounded up to whole milliseconds.
  @_noLocks
  public mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = wait(milliseconds: Self.milliseconds(nanoseconds))
    status.hasEvents = false
    status.periodTime = periodTime
    status.readyTime = periodTime
    status.reportedLatencyFrames = reportedLatencyFrames
    guard case .ready = status.readiness else { return }
    status.lostFrames = lostFrames
    lostFrames = 0
  }

  /// Returns the timeout for `poll` in milliseconds; -1 for no limit.
  @_noLocks
  private static func milliseconds(_ nanoseconds: UInt64) -> Int32 {
    nanoseconds > 1_000_000_000_000
      ? -1 : Int32(truncatingIfNeeded: (nanoseconds &+ 999_999) / 1_000_000)
  }

  @_noLocks
  private mutating func wait(milliseconds: Int32) -> DeviceReadiness {
    if let found = trouble {
      trouble = nil
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
        switch wakeUp?.sleep(milliseconds: milliseconds) ?? .late {
        case .due: break
        case .late: return .waiting
        case .troubled: return troubled()
        }
      }
      var available = capture?.available() ?? playback?.available() ?? 0
      // The `plug` plugin counts the frames that a server's plugin has moved only if it is polled
      // explicitly.
      if hasSlept && available >= 0 && available < wakeFrames && wakeUp?.isHardware == false {
        available = capture?.availableNow() ?? playback?.availableNow() ?? 0
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
        guard playback?.startNow() ?? false else { return .lost }
        isStarted = true
      }
    }
    return .waiting
  }

  /// Handles a sleep that ended with an error. The mapped pages may still show no error, so the
  /// kernel is polled.
  @_noLocks
  private mutating func troubled() -> DeviceReadiness {
    let answer = capture?.availableNow() ?? playback?.availableNow() ?? 0
    if answer < 0 { return diagnosis(of: answer, onCapture: shape.hasCapture) }
    stillness &+= 1
    return stillness > 16 ? .lost : .waiting
  }

  @_noLocks
  private mutating func ready(_ available: Int) -> DeviceReadiness {
    periodTime = HostClock.nanoseconds
    stillness = 0
    // Frames handed over before the start do not move yet.
    if isStarted { restarts.end() }
    if gap.isOpen {
      let (captured, nanoseconds) = capture?.stamped(available, at: periodTime) ?? (0, periodTime)
      lostFrames &+= gap.close(
        captured: captured, at: nanoseconds, sampleRate: shape.sampleRate)
    }
    if shape.hasCapture {
      leftover = available &- shape.periodFrames
      lostFrames &+=
        dropped?.note(captured: available, taking: shape.periodFrames, at: periodTime) ?? 0
      gap.note(captured: available, taking: shape.periodFrames, at: periodTime)
    }
    if proof.isOpen, shape.canProveStart {
      let captured = capture?.availableNow() ?? 0
      let room = playback?.availableNow() ?? 0
      if captured >= 0 && room >= 0 {
        let queued = shape.playbackBufferFrames &- room
        correction &+= proof.judge(captured: captured, queued: queued)
        // Both delays include the frames in converters and cables, as far as their driver knows
        // them.
        reportedLatencyFrames = (capture?.delay() ?? 0) &+ (playback?.delay() ?? 0)
      }
    }
    return .ready
  }

  /// Lends the next captured frames. Returns nil if they are not available or the device failed.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    guard let lent = capture?.borrowFrames(frames) else {
      gap.undoRead(shape.periodFrames)
      trouble = diagnosis(of: capture?.availableNow() ?? 0, onCapture: true)
      return nil
    }
    return lent
  }

  /// Releases captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    let isDone = capture?.returnFrames(frames) == true
    if isDone { heldFrames &-= frames }
    note(isDone, available: isDone ? 0 : capture?.availableNow() ?? 0, onCapture: true)
  }

  /// Lends room for the next frames to play. Returns nil if the device failed or its buffer is
  /// full.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    // Linked directions stop together, and the input's state was just read. If the ring ends within
    // the frames, only those before its end are known to be free.
    if shape.isLinked && correction == 0, let lent = playback?.borrowFrames(frames) ?? nil,
      lent.firstCount == frames
    {
      return lent
    }
    var available = playback?.available() ?? 0
    // The output's interrupt may come after the input's, so that the mapped page is outdated: the
    // kernel is polled.
    if available >= 0 && available < frames { available = playback?.availableNow() ?? 0 }
    if correction < 0 && available > frames {
      // The silence never displaces the frames that are due.
      let silence = min(0 &- correction, min(available &- frames, shape.periodFrames))
      let played = playback?.playSilence(silence) ?? 0
      correction &+= played
      heldFrames &+= played
      available &-= played
    }
    if available < 0 {
      trouble = diagnosis(of: available, onCapture: false)
      return nil
    }
    // There is no room: the input is ahead. Frames that do not fit are not played, so that the
    // delay stays bounded.
    return available < frames ? nil : playback?.borrowFrames(frames) ?? nil
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    let dropped = max(0, min(correction, frames))
    correction &-= dropped
    let isDone = playback?.returnFrames(frames &- dropped) == true
    if isDone { heldFrames &+= frames &- dropped }
    note(isDone, available: isDone ? 0 : playback?.availableNow() ?? 0, onCapture: false)
    if !isStarted { primedFrames &+= frames }
  }

  /// Returns nil: a single device has no events.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? { nil }

  /// Returns nil: the device has no secondary outputs.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }

  /// Records whether frames were released or handed over. If not, `available` is the device's count
  /// or its error code. The number of frames lost is known after the next start. A device that
  /// refuses frames 17 times in succession is lost, whatever it reports.
  @_noLocks
  private mutating func note(_ isDone: Bool, available: Int, onCapture: Bool) {
    guard !isDone else {
      refusals = 0
      return
    }
    refusals &+= 1
    trouble = diagnosis(of: available, onCapture: onCapture)
    if case .waiting? = trouble { trouble = .xrun(onCapture ? .captureXrun : .playbackXrun) }
    if refusals > 16 { trouble = .lost }
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
    if let stopped = capture?.stoppedState() {
      gap.open(unread: unreadFrames(stopped.available), at: stopped.nanoseconds)
    } else if shape.hasCapture {
      gap.open()
    }
    capture?.drop()
    playback?.drop()
    capture?.resume()
    playback?.resume()
    guard configuration.isServer else { return try start() }
    restarts.note()
    guard !restarts.areTooMany else { throw .serverGone(configuration.deviceNames) }
    do throws(DeviceFailure) {
      try start()
    } catch {
      throw .serverGone(configuration.deviceNames)
    }
  }

  /// Returns the number of frames that were captured and not yet read when the input stopped, of
  /// which it reports `available`. Linked directions stop together if the output runs dry, and the
  /// input may not have counted the frames since its last interrupt. The output has counted them,
  /// and both move at the same time.
  private func unreadFrames(_ available: Int) -> Int {
    guard shape.isLinked, let output = playback?.stoppedState() else { return available }
    return max(available, heldFrames &- (shape.playbackBufferFrames &- output.available))
  }

  /// Stops both directions. With `draining`, an output without input first plays the queued frames.
  public mutating func stop(draining: Bool) {
    if draining, !shape.hasCapture {
      if !isStarted, primedFrames > 0 { isStarted = playback?.startNow() ?? false }
      if isStarted { playback?.drain() }
    }
    capture?.drop()
    playback?.drop()
  }
}

/// A check of the first periods after a start: whether both directions together hold the expected
/// number of frames. A linked start can go wrong without an error, and an unlinked start always
/// does.
struct StartLatencyCheck: BitwiseCopyable {
  /// The number of periods before the result.
  private static let periods = 8

  private let expected: Int
  private var seen = 0
  private var sum = 0

  /// Creates a check that expects `expected` frames in the unit at each wake-up.
  @_noLocks
  init(expected: Int) {
    self.expected = expected
  }

  /// Whether the check needs more fill levels.
  var isOpen: Bool {
    @_noLocks get { seen < Self.periods }
  }

  /// Records the number of frames that both directions hold at a wake-up. With the last period,
  /// returns the number of frames by which the output is too far behind (positive: drop that many)
  /// or too close (negative). Before that, returns 0.
  @_noLocks
  mutating func judge(captured: Int, queued: Int) -> Int {
    seen &+= 1
    sum &+= captured &+ queued
    guard seen == Self.periods else { return 0 }
    // Rounds to the nearest frame: pointers of devices that are not linked move at different times.
    let doubled = 2 &* sum / Self.periods &- 2 &* expected
    return (doubled &+ (doubled < 0 ? -1 : 1)) / 2
  }
}

@_noLocks
private func callALSADuplex(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
  perform(call, on: driver.assumingMemoryBound(to: ALSADuplex.self), storing: answer)
}
