import RealtimeAudio

/// What came of one turn of a unit.
public enum CycleOutcome: Sendable {
  /// The callbacks ran.
  case ran
  /// The device had nothing yet.
  case waiting
  /// An xrun or a suspension was mended; the next cycle says how long the gap was.
  case recovered
  /// The device went away, and is waited for.
  case away
  /// The frame limit is reached, or a stop was asked for.
  case finished
  /// The device is gone or cannot be mended.
  case failed(DeviceFailure)
}

/// The heart of it: gets microphone frames from a device, hands them to an input callback, and
/// fills the output from an output callback, in one cycle after the other.
///
/// Generic over the device and the callbacks, which it owns: calls are direct, nothing is counted
/// or boxed. Made and started on one thread, then moved to the audio thread for `run` (or turned
/// by hand with `cycle` where time is virtual), and handed back for `stop`. It is the only place
/// that recovers from an xrun.
public struct DuplexUnit<Device: DuplexDevice & ~Copyable, Callbacks: DuplexCallbacks & ~Copyable>:
  ~Copyable
{
  /// Where a unit is in its life.
  public enum State: Sendable {
    /// Made, not started.
    case initialized
    /// Started.
    case running
    /// Stopped, for good.
    case stopped
  }

  /// The device, as it was granted.
  public let configuration: DuplexConfiguration
  /// Where the unit is in its life.
  public private(set) var state = State.initialized
  /// The callbacks; theirs again when the unit has stopped.
  public var callbacks: Callbacks

  let shape: DuplexShape
  var device: Device
  let nothing: DeviceBuffer
  private let shared: SharedState<UnitFigures>
  var events: EventWriter
  private(set) var frameLimit: Int
  private let fadeFrames: Int
  private var isStopping = false
  let reconnects: Bool
  private let furtherCount: Int
  var frame = 0
  private var isEnded = false
  private var cycleCount = 0
  private var busyNanoseconds: UInt64 = 0
  private var busiestNanoseconds: UInt64 = 0
  /// When the timeline last moved on, on the device's clock, and how often the device was asked since.
  var lastReady: UInt64 = 0
  private var idleTurns = 0
  private var turns = 0
  /// When the first recovery was made after which no cycle came yet.
  var fruitlessSince: UInt64?
  var reconnectState = ReconnectState()
  /// Where on the timeline one of two devices went away.
  var captureLostFrame: Int?
  var playbackLostFrame: Int?
  /// An xrun that was mended and whose gap a cycle will tell, and before which frame it came.
  var xrun: TimelineEvent.Kind?
  private var xrunFrame = 0

  /// A unit on `device` that publishes to `progress` and tells xruns to the reader of `events`.
  ///
  /// It ends by itself after `frameLimit` frames, the last cycle being shorter where it must be.
  /// A device that goes away ends it too, unless it `reconnects`: then it waits for the same device
  /// and goes on, with a gap in the timeline as long as the device was away. Asked to stop, it goes
  /// on for `fadeFrames` frames, so that what is heard can fade out.
  public init(
    device: consuming Device, callbacks: consuming Callbacks, progress: borrowing UnitProgress,
    events: consuming EventWriter = EventWriter(), frameLimit: Int? = nil,
    fadeFrames: Int = 0, reconnects: Bool = false
  ) {
    self.fadeFrames = fadeFrames
    self.reconnects = reconnects
    configuration = device.configuration
    shape = DuplexShape(device.configuration)
    nothing = DeviceBuffer(
      format: .floatLE, channelCount: device.configuration.capture?.channelCount ?? 1,
      frameCount: 1)
    self.device = device
    self.callbacks = callbacks
    shared = progress.share()
    self.events = events
    self.frameLimit = frameLimit ?? .max
    furtherCount = configuration.further.count
    shared.pointer.pointee.furtherCount.store(furtherCount, ordering: .relaxed)
    if reconnects { self.device.enableReconnection(telling: shared.pointer.pointee.returning) }
  }

  /// Gets the device going.
  public mutating func start() throws(DeviceFailure) {
    guard state == .initialized else {
      throw DeviceFailure(
        .invalidRequest, "The unit was started before.", hint: "Make a new unit for a new run.")
    }
    try device.start()
    lastReady = device.now
    reconnectState.note(device.now)
    state = .running
  }

  /// Cycles until the limit is reached, a stop is asked for, a callback ends it, or the device
  /// fails; nil unless it failed. Runs on the audio thread. Whoever started that thread interrupts
  /// it when the unit's progress stands still, so that a stop or a stalled device is noticed.
  public mutating func run() -> DeviceFailure? {
    while true {
      switch cycle() {
      case .finished: return nil
      case .failed(let failure): return failure
      case .ran, .waiting, .recovered, .away: continue
      }
    }
  }

  /// Waits for the device and runs the callbacks once. Runs on the audio thread.
  public mutating func cycle() -> CycleOutcome {
    guard state == .running else {
      return .failed(
        DeviceFailure(.invalidRequest, "The unit is not running.", hint: "Start it first."))
    }
    turns += 1
    figures.pointee.turns.store(turns, ordering: .relaxed)
    if !isStopping && figures.pointee.stopRequested.load(ordering: .relaxed) {
      isStopping = true
      frameLimit = min(frameLimit, frame + fadeFrames)
    }
    guard frame < frameLimit, !isEnded else {
      if !isStopping { reportAbsence() }
      return .finished
    }
    if reconnectState.isAway { return isStopping ? .finished : pollForReconnection() }
    let found = device.wait()
    while let news = device.takeEvents() { tell(news) }
    switch found {
    case .ready:
      return runCallbacks() ? .ran : standStill()
    case .waiting:
      if reconnectState.isOpen, !isStopping, endWhileAway() { return .ran }
      return standStill()
    case .xrun(let kind):
      return recover(kind)
    case .suspended:
      return recover(.captureXrun)
    case .lost:
      return lose(.lost(configuration))
    }
  }

  /// Ends the run. With `draining`, what is queued is heard first.
  public mutating func stop(draining: Bool = false) {
    guard state == .running else { return }
    device.stop(draining: draining)
    state = .stopped
  }

  var figures: UnsafeMutablePointer<UnitFigures> { shared.pointer }

  /// The device waits, or calls itself ready and neither gives nor takes a frame, which may go on
  /// for five seconds; a moment where an end is wanted. Asked a million times it was never waited
  /// for: it would keep a processor busy in vain.
  private mutating func standStill() -> CycleOutcome {
    idleTurns += 1
    let silence = device.now &- lastReady
    if isStopping && (silence > Self.patience || idleTurns > 1000) { return .finished }
    guard silence < 5_000_000_000, idleTurns < 1_000_000 else {
      idleTurns = 0
      return lose(.stalled(configuration))
    }
    return .waiting
  }

  /// Nanoseconds for which an end that is wanted waits for a device.
  private static var patience: UInt64 { 200_000_000 }

  /// Whether the timeline moved on.
  private mutating func runCallbacks() -> Bool {
    let began = device.readyTime
    let first = frame
    RealtimeContext.enter()
    let lost = min(device.takeLostFrames(), frameLimit - frame)
    let bridged = device.takeBridgedFrames()
    // One gap is told once, by what came first.
    if reconnectState.end() {
      _ = events.write(TimelineEvent(kind: .deviceReturned, frame: frame, frames: lost))
      xrun = nil
    } else if let bridged {
      tellXrun(lost: lost + bridged)
    }
    reconnectState.note(device.periodTime)
    frame += lost
    let missed = lost + (bridged ?? 0)
    if missed > 0 { figures.pointee.lostFrames.add(missed, ordering: .relaxed) }
    let frames = min(shape.periodFrames, frameLimit - frame)
    let time = CycleTime(frame: frame, nanoseconds: device.periodTime, lostFrames: lost)
    if frames > 0 {
      let delivered = deliver(frames, at: time)
      frame += delivered
      if delivered > 0 { fruitlessSince = nil }
    } else if shape.hasCapture {
      // The gap reaches to the end: it is told with no frame behind it.
      callbacks.input(InputCycle(time: time, frames: nothing.frames(0), frameCount: 0))
    }
    figures.pointee.frames.store(frame, ordering: .relaxed)
    figures.pointee.claimedFrames.store(device.claimedLatencyFrames, ordering: .relaxed)
    if let drift = device.drift { publish(drift) }
    for index in 0..<furtherCount {
      if let reading = device.furtherReading(index) {
        figures.pointee.publish(reading, of: index)
      }
    }
    RealtimeContext.leave()
    publishLoad(device.now &- began)
    guard frame != first || isEnded else { return false }
    lastReady = began
    idleTurns = 0
    return true
  }

  private mutating func tellXrun(lost frames: Int) {
    guard let kind = xrun else { return }
    _ = events.write(TimelineEvent(kind: kind, frame: xrunFrame, frames: frames))
    xrun = nil
  }

  /// One pass through the callbacks. Returns by how many frames the timeline moved: none when the
  /// device failed between.
  private mutating func deliver(_ frames: Int, at time: CycleTime) -> Int {
    if shape.hasCapture {
      guard let captured = device.capturedFrames(frames) else { return 0 }
      callbacks.input(InputCycle(time: time, frames: captured, frameCount: frames))
    }
    var played = frames
    if shape.hasPlayback {
      guard let room = device.playbackRoom(frames) else {
        // Without input nothing was taken: the next wait says what is the matter.
        guard shape.hasCapture else { return 0 }
        drop(frames)
        return frames
      }
      var output = OutputCycle(
        time: time, room: room, frameCount: frames, framesLeft: frameLimit - time.frame)
      callbacks.output(&output)
      output.complete()
      if output.nanCount > 0 {
        figures.pointee.nanCount.add(output.nanCount, ordering: .relaxed)
      }
      played = output.playedFrames
      isEnded = output.isLast
      device.commit(played)
    }
    if shape.hasCapture { device.release(frames) }
    return shape.hasCapture ? frames : played
  }

  /// The output has no room, because the input's clock is the faster one: what came in is heard by
  /// nobody who listens to the output, and is counted.
  private mutating func drop(_ frames: Int) {
    device.release(frames)
    figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    figures.pointee.lostFrames.add(frames, ordering: .relaxed)
    _ = events.write(TimelineEvent(kind: .playbackXrun, frame: frame, frames: frames))
  }

  private mutating func recover(_ kind: TimelineEvent.Kind) -> CycleOutcome {
    // Cycles went on since the last one, and its gap is still open.
    if xrun != nil, frame > xrunFrame { tellXrun(lost: 0) }
    xrun = kind
    xrunFrame = frame
    if kind == .playbackXrun {
      figures.pointee.playbackXruns.add(1, ordering: .relaxed)
    } else {
      figures.pointee.captureXruns.add(1, ordering: .relaxed)
    }
    do throws(DeviceFailure) {
      try device.recover()
    } catch {
      return lose(error)
    }
    lastReady = device.now
    let since = fruitlessSince ?? lastReady
    fruitlessSince = since
    if isStopping && lastReady &- since > Self.patience { return .finished }
    // A gap after a gap, with never a frame between, would go on for ever.
    return lastReady &- since < 5_000_000_000
      ? .recovered : .failed(.persistentXrun(configuration))
  }

  private func publish(_ drift: DriftReading) {
    figures.pointee.driftPPM.store(drift.ppm.bitPattern, ordering: .relaxed)
    figures.pointee.driftError.store(drift.errorFrames.bitPattern, ordering: .relaxed)
    figures.pointee.relocks.store(drift.relocks, ordering: .relaxed)
    figures.pointee.hasDrift.store(true, ordering: .relaxed)
  }

  private mutating func publishLoad(_ nanoseconds: UInt64) {
    cycleCount += 1
    busyNanoseconds += nanoseconds
    busiestNanoseconds = max(busiestNanoseconds, nanoseconds)
    figures.pointee.cycles.store(cycleCount, ordering: .relaxed)
    figures.pointee.busyNanoseconds.store(busyNanoseconds, ordering: .relaxed)
    figures.pointee.busiestNanoseconds.store(busiestNanoseconds, ordering: .relaxed)
  }
}
