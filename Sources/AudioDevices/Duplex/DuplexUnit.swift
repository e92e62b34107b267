import RealtimeAudio

/// The result of one call of `DuplexUnit.cycle()`.
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

/// The processing of a unit's frames: `input` and `output`, called on the audio thread each cycle.
///
/// Both run under the rules of the audio thread: no allocation, lock, file, terminal or reference
/// count. Mark your methods `@_noLocks` and the compiler checks it. A unit without input calls
/// only `output`, one without output only `input`.
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
  /// Gets ready for the device as it was granted, and throws where it does not fit.
  ///
  /// Called by the unit's `start`, before the device gets going, on the thread that starts it:
  /// under a `SessionRunner` the audio thread. May allocate. Does nothing unless you write it.
  mutating func prepare(_ configuration: DuplexConfiguration) throws(DeviceFailure)

  /// Takes the frames the microphone delivered: `input.render(into:)` fills a buffer you own.
  mutating func input(_ input: borrowing InputCycle)

  /// Fills what the output plays next: right after `input`, with the same number of frames. Called
  /// as well where the output has no room for them, as after an xrun: these frames are not heard.
  mutating func output(_ output: inout OutputCycle)

  /// Called some ten times a second in place of the two while the device is away and waited for.
  mutating func idle()
}

extension DuplexCallbacks where Self: ~Copyable {
  /// Fits any device. Throws nothing.
  public mutating func prepare(_ configuration: DuplexConfiguration) throws(DeviceFailure) {}

  /// Lets the microphone's frames go.
  public mutating func input(_ input: borrowing InputCycle) {}

  /// Plays silence.
  public mutating func output(_ output: inout OutputCycle) {}

  /// Waits.
  public mutating func idle() {}
}

/// Callbacks as two closures, for examples and quick experiments. Either may be absent.
/// They run on the audio thread.
///
/// The compiler cannot prove a stored closure realtime-safe: for anything people rely on, write a
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

  /// Callbacks that run `input` and then `output`, once a cycle each, on the audio thread.
  public init(
    input: ((borrowing InputCycle) -> Void)? = nil, output: ((inout OutputCycle) -> Void)? = nil
  ) {
    onInput = input
    onOutput = output
  }

  /// Takes what the microphone delivered.
  public mutating func input(_ input: borrowing InputCycle) {
    onInput?(input)
  }

  /// Fills what the output plays next.
  public mutating func output(_ output: inout OutputCycle) {
    onOutput?(&output)
  }
}

/// The loop of a duplex device: takes microphone frames from it, hands them to an input callback,
/// and fills the output from an output callback, in one cycle after the other.
///
/// Owns the device and the callbacks. Made on any thread; `start` and `run` are called on the audio
/// thread (or, where time is virtual, `cycle` on any), and `stop` by whoever has it then.
///
/// All that a cycle does is in `UnitCore` and proven there. Here is what is generic over the
/// callbacks, which the compiler cannot prove: the order of the two calls.
///
/// Design note. The two calls go through the callbacks' witness table, two indirect calls a cycle.
/// Swift 6.3.1 specialises a generic function only where its caller knows the concrete type:
/// sessions are generic over their mixer as well, so that all of them down to the unit would have
/// to be `@inlinable`, and the tool would hold a copy of each for every session. A C function, as
/// drivers have it (`DriverFunction`), would be as indirect, and every type of callbacks would have
/// to write its own. What is lost is the proof of four lines; the counters and RealtimeSanitizer
/// watch them in `Scripts/realtime-proof`.
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
  /// The state of a unit: made, running or stopped.
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
  /// The state of the unit: made, running or stopped.
  public private(set) var state = State.initialized
  /// The callbacks; theirs again when the unit has stopped.
  public var callbacks: Callbacks
  @usableFromInline var core: UnitCore

  /// A unit on `device` that publishes to `progress` and tells xruns to the reader of `events`.
  ///
  /// It ends by itself after `frameLimit` frames, the last cycle being shorter where it must be. A
  /// device that goes away ends it too, unless it `reconnects`: then it waits for the same device
  /// and goes on, with a gap in the timeline as long as the device was away. Asked to stop, it goes
  /// on for `fadeFrames` frames, so that what is heard can fade out. A timeline that another device
  /// began goes on from `resuming`, where that one's last cycle ended, after a gap as long as the
  /// time between.
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

  /// The same on the device that `driver` drives.
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

  /// Prepares the callbacks and gets the device going.
  ///
  /// Throws what the callbacks' `prepare` throws, and a `DeviceFailure` where the device does not
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

  /// Cycles until the limit is reached, a stop is asked for, a callback ends it, or the device
  /// fails; nil unless it failed. Runs on the audio thread. The thread that started it interrupts
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

  /// One turn: waits for the device for as long as one wait lasts and, if a period is there, runs
  /// the callbacks.
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
    // The gap reaches to the end: it is told with no frame behind it.
    if core.hasInput {
      callbacks.input(core.takeInput())
      core.finishInput()
    }
    return outcome
  }

  /// Ends the run. With `draining`, what is queued is heard first.
  public mutating func stop(draining: Bool = false) {
    guard state == .running else { return }
    core.device.stop(draining: draining)
    state = .stopped
  }
}

extension DeviceFailure {
  /// A unit was turned before its start, or after its end.
  @usableFromInline
  static var notRunning: DeviceFailure {
    DeviceFailure(.invalidRequest, "The unit is not running.", hint: "Start it first.")
  }
}
