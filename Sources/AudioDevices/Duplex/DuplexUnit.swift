import RealtimeAudio

/// The result of one call of `DuplexUnit.cycle()`.
public enum CycleOutcome: Sendable {
  /// The callbacks ran.
  case ran
  /// The device has no period yet.
  case waiting
  /// The unit recovered from an xrun or a suspension, or its device returned. The next cycle
  /// reports the length of the gap.
  case recovered
  /// The device is away, and the unit waits for its return.
  case away
  /// The frame limit was reached, a stop was requested, or a callback ended the run.
  case finished
  /// The device is gone, its recovery failed, or the unit is not running.
  case failed(DeviceFailure)
}

/// The processing of a unit's frames. The unit calls `input` and `output` on the audio thread in
/// each cycle.
///
/// Both follow the rules of the audio thread: no allocation, lock, file access, terminal output or
/// reference counting. Mark the methods `@_noLocks`, and the compiler checks them. A unit without
/// input calls only `output`, a unit without output only `input`.
///
/// ```swift
/// struct Passing: DuplexCallbacks, ~Copyable {
///   var buffer = SampleBuffer(frameCount: 1, channelCount: 1)
///   mutating func prepare(_ granted: DuplexConfiguration) throws(DeviceFailure) {
///     buffer = SampleBuffer(
///       frameCount: granted.periodFrames, channelCount: granted.playback?.channelCount ?? 1)
///   }
///   @_noLocks mutating func input(_ input: borrowing InputCycle) { input.render(into: &buffer) }
///   @_noLocks mutating func output(_ output: inout OutputCycle) { output.play(buffer) }
/// }
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// let progress = UnitProgress()
/// var unit = DuplexUnit(
///   device: opened.device, callbacks: Passing(), progress: progress, frameLimit: 480)
/// try unit.start()
/// if let failure = unit.run() { throw failure }
/// precondition(progress.frames == 480)
/// ```
public protocol DuplexCallbacks: ~Copyable {
  /// Prepares for the configuration that the device granted. Throws if it is not suitable.
  ///
  /// The unit's `start` calls it before the device starts, on the thread that calls `start`. Under
  /// a `SessionRunner` that is the audio thread, or in virtual time the caller's. It may allocate.
  /// The default implementation does nothing.
  mutating func prepare(_ configuration: DuplexConfiguration) throws(DeviceFailure)

  /// Processes the captured frames. `input.render(into:)` copies them to a buffer of the callbacks.
  mutating func input(_ input: borrowing InputCycle)

  /// Fills the frames that the output plays next. Called right after `input`, with the same number
  /// of frames. It is also called if the output has no room, for example after an xrun; those
  /// frames are not played.
  mutating func output(_ output: inout OutputCycle)

  /// Runs about ten times a second, in place of `input` and `output`, while the device is away and
  /// the unit waits for its return.
  mutating func idle()
}

extension DuplexCallbacks where Self: ~Copyable {
  /// Accepts every configuration. Throws nothing.
  public mutating func prepare(_ configuration: DuplexConfiguration) throws(DeviceFailure) {}

  /// Discards the captured frames.
  public mutating func input(_ input: borrowing InputCycle) {}

  /// Plays silence.
  public mutating func output(_ output: inout OutputCycle) {}

  /// Does nothing.
  public mutating func idle() {}
}

/// Callbacks made of two closures, for examples and quick experiments. Either may be nil. They run
/// on the audio thread.
///
/// The compiler cannot prove that a stored closure is realtime-safe. For production code, write a
/// type that conforms to `DuplexCallbacks` and mark its methods `@_noLocks`.
///
/// ```swift
/// var buffer = SampleBuffer(frameCount: 256, channelCount: 2)
/// var loudest: Float = 0
/// let closures = DuplexClosures(
///   input: { cycle in
///     cycle.render(into: &buffer)
///     for sample in 0..<cycle.frameCount * 2 { loudest = max(loudest, abs(buffer[sample])) }
///   },
///   output: { cycle in cycle.silence() })
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free,noise=-20"))
/// var unit = DuplexUnit(
///   device: opened.device, callbacks: closures, progress: UnitProgress(), frameLimit: 4800)
/// try unit.start()
/// if let failure = unit.run() { throw failure }
/// unit.stop()
/// precondition(loudest > 0.01)
/// ```
public struct DuplexClosures: DuplexCallbacks, ~Copyable {
  private let onInput: ((borrowing InputCycle) -> Void)?
  private let onOutput: ((inout OutputCycle) -> Void)?

  /// Creates callbacks that run `input` and then `output`, once per cycle each, on the audio
  /// thread.
  public init(
    input: ((borrowing InputCycle) -> Void)? = nil, output: ((inout OutputCycle) -> Void)? = nil
  ) {
    onInput = input
    onOutput = output
  }

  /// Calls the input closure with the captured frames.
  public mutating func input(_ input: borrowing InputCycle) {
    onInput?(input)
  }

  /// Calls the output closure, which fills the frames that the output plays next.
  public mutating func output(_ output: inout OutputCycle) {
    onOutput?(&output)
  }
}

/// The loop of a duplex device. Each cycle passes the captured frames to an input callback and
/// fills the output from an output callback.
///
/// The unit owns the device and the callbacks. One thread at a time uses it: the one that has it,
/// as it moves from thread to thread. `init`, `start` and `stop` may block and are called on any
/// thread, `run` and `cycle` on the audio thread, or on any thread if time is virtual. A device in
/// real time runs from `start` on: `run` must follow before its buffer is full, so a session calls
/// both on the audio thread.
///
/// `UnitCore` does all other work of a cycle and is proven there. This type contains the part that
/// is generic over the callbacks, which the compiler cannot prove: the order of the two calls.
///
/// Design note. The two calls go through the callbacks' witness table, which costs two indirect
/// calls per cycle. Swift 6.3.1 specialises a generic function only if its caller knows the
/// concrete type. Sessions are generic over their mixer as well, so all of them down to the unit
/// would have to be `@inlinable`, and the tool would contain a copy of each for every session. A C
/// function, as drivers use it (`DriverFunction`), would be as indirect, and every type of
/// callbacks would have to define its own. The cost is that four lines are not proven. The counters
/// and RealtimeSanitizer check them in `Scripts/realtime-proof`.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// let progress = UnitProgress()
/// var unit = DuplexUnit(
///   device: opened.device, callbacks: DuplexClosures(), progress: progress, frameLimit: 48000)
/// try unit.start()
/// if let failure = unit.run() { throw failure }
/// unit.stop()
/// precondition(progress.frames == 48000 && unit.state == .stopped)
/// ```
public struct DuplexUnit<Callbacks: DuplexCallbacks & ~Copyable>: ~Copyable {
  /// The state of a unit: initialized, running or stopped.
  public enum State: Sendable {
    /// The unit was created and not started.
    case initialized
    /// The unit was started and not stopped.
    case running
    /// The unit was stopped permanently.
    case stopped
  }

  /// The configuration that the device granted.
  public let configuration: DuplexConfiguration
  /// The state of the unit: initialized, running or stopped.
  public private(set) var state = State.initialized
  /// The callbacks. The caller can use them again after the unit has stopped.
  public var callbacks: Callbacks
  @usableFromInline var core: UnitCore

  /// Creates a unit on `device` that publishes its figures to `progress` and writes xruns and other
  /// events of the timeline to `events`.
  ///
  /// The unit ends after `frameLimit` frames, with a shorter last cycle if necessary; nil means no
  /// limit. The loss of the device also ends it, unless it `reconnects`: it then waits for the same
  /// device and continues, with a gap in the timeline as long as the device was away. After a stop
  /// request it continues for `fadeFrames` frames, so that the output can fade out. With
  /// `resuming`, it continues a timeline that another device began, from the end of that device's
  /// last cycle, after a gap as long as the time in between.
  public init(
    device: consuming DuplexDevice, callbacks: consuming Callbacks,
    progress: borrowing UnitProgress,
    events: consuming EventWriter<TimelineEvent> = EventWriter<TimelineEvent>(),
    frameLimit: Int? = nil, fadeFrames: Int = 0, reconnects: Bool = false,
    resuming: CycleTime? = nil
  ) {
    configuration = device.configuration
    self.callbacks = callbacks
    core = UnitCore(
      device, progress: progress, events: events, frameLimit: frameLimit ?? .max,
      fadeFrames: fadeFrames, reconnects: reconnects, resuming: resuming)
  }

  /// Creates the same unit on the device that `driver` drives.
  public init<Driver: DuplexDriver & ~Copyable>(
    device driver: consuming Driver, callbacks: consuming Callbacks,
    progress: borrowing UnitProgress,
    events: consuming EventWriter<TimelineEvent> = EventWriter<TimelineEvent>(),
    frameLimit: Int? = nil, fadeFrames: Int = 0, reconnects: Bool = false
  ) {
    self.init(
      device: DuplexDevice(driver), callbacks: callbacks, progress: progress, events: events,
      frameLimit: frameLimit, fadeFrames: fadeFrames, reconnects: reconnects)
  }

  /// Prepares the callbacks and starts the device. Any thread, before the audio thread runs or on
  /// it.
  ///
  /// Throws what the callbacks' `prepare` throws, and a `DeviceFailure` if the device does not
  /// start or the unit was started before.
  public mutating func start() throws(DeviceFailure) {
    guard state == .initialized else {
      throw DeviceFailure(
        .invalidRequest, "The unit was started before.", hint: "Make a new unit for a new run.")
    }
    try callbacks.prepare(configuration)
    try core.start()
    state = .running
  }

  /// Runs cycles until the limit is reached, a stop is requested, a callback ends the run, or the
  /// device fails. Returns nil unless the device failed. Runs on the audio thread. The thread that
  /// created the audio thread interrupts it if the unit's progress stalls, so that a stop request
  /// or a stalled device is noticed.
  public mutating func run() -> DeviceFailure? {
    while true {
      switch cycle() {
      case .finished: return nil
      case .failed(let failure): return failure
      case .ran, .waiting, .recovered, .away: continue
      }
    }
  }

  /// Runs one turn: waits for the device, for as long as one wait lasts, and runs the callbacks if
  /// a period is available. Runs on the audio thread, or on any thread if time is virtual.
  @inlinable
  public mutating func cycle() -> CycleOutcome {
    guard state == .running else { return .failed(.notRunning) }
    var turn = core.begin()
    if case .cycle = turn {
      if core.hasInput {
        callbacks.input(core.takeInput())
        core.finishInput()
      }
      if core.prepareOutput() {
        var output = core.takeOutput()
        callbacks.output(&output)
        core.finishOutput(&output)
      }
      turn = core.end()
    }
    switch turn {
    case .cycle, .ran: return .ran
    case .waiting: return .waiting
    default: break
    }
    let outcome = core.handle(turn)
    if case .away = outcome { callbacks.idle() }
    // The gap reaches the end of the run: the input callback receives it without frames.
    if core.hasInput {
      callbacks.input(core.takeInput())
      core.finishInput()
    }
    return outcome
  }

  /// Ends the run. With `draining`, the queued frames are played first. Any thread that has the
  /// unit, after `run` has returned. Does nothing if the unit was not started, or was stopped.
  public mutating func stop(draining: Bool = false) {
    guard state == .running else { return }
    core.device.stop(draining: draining)
    state = .stopped
  }
}

extension DeviceFailure {
  /// The failure of a unit whose `cycle` was called before its start or after its end.
  @usableFromInline
  static var notRunning: DeviceFailure {
    DeviceFailure(.invalidRequest, "The unit is not running.", hint: "Start it first.")
  }
}
