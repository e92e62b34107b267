import AudioBasics
import AudioDevices
import AudioSessions
import ProgramRuntime
import RealtimeAudio

/// Watches a running session: reports its events, draws the meter, and handles signals and keys.
final class SessionWatch {
  private let options: AudioOptions
  private let configuration: DuplexConfiguration
  private let parts: SessionParts
  private let signals = SignalWatch()
  private let keyboard: Keyboard
  /// The watch for a stalled thread in virtual time; nil in real time.
  private let watchdog: ShutdownWatchdog?
  private let request: EndRequest
  private let deviceEvents: DeviceEvents
  /// The panel on the screen; nil if none is drawn.
  private var panel: SessionPanel?
  /// Whether the start of the session was reported.
  private(set) var hasStarted = false
  /// The frame of the unit at the last snapshot, and the time of that snapshot.
  private var lastSnapshot = (frames: 0, nanoseconds: UInt64(0))
  /// The frame of the last key or signal.
  private var lastRequestFrame = 0
  private var isKeyboardClosed = false
  /// How the user requested the end; nil if there was no request.
  private(set) var requestedEnd: StopReason?
  /// Whether there was a reason to stop. The session is about to end, so it is polled more often.
  private var isOver = false
  /// The frame from which the drift is reported next.
  private var nextDrift = 0
  /// The number of xruns so far, that after which a remedy is named, and the most that are printed
  /// one by one.
  private var xrunCount = 0
  private static let xrunsBeforeRemedy = 3
  private static let maximumXrunLines = 10
  /// Raised by the first warning of large steps, because the sessions of one command, as the trials
  /// of `tune`, have the same.
  private static let hasWarnedOfSteps = AtomicFlag()
  /// The limit for messages about unused keys, because text pasted by mistake consists of many of
  /// them.
  private var unusedKeys = NoticeInterval(seconds: 1)

  /// Watches a session of `parts`. `watchdog` is nil unless time is virtual.
  init(
    _ options: AudioOptions, _ configuration: DuplexConfiguration, _ parts: SessionParts,
    _ request: EndRequest, watchdog: ShutdownWatchdog?
  ) {
    self.options = options
    self.configuration = configuration
    self.parts = parts
    self.watchdog = watchdog
    self.request = request
    // A script may start a recording that waits for its start, through a pipe.
    keyboard = Keyboard(readsPipe: parts.recording?.isWaiting == true)
    deviceEvents = DeviceEvents(
      configuration: configuration, quiet: options.quiet, verbose: options.verbose)
    // For the first meter event.
    if options.json { parts.recording?.requestState() }
    // A terminal that blocks must not prevent the end of a recording.
    Terminal.stopWaiting()
    guard Terminal.isLive, watchdog == nil, !OutputMode.current.isTerse else { return }
    parts.recording?.requestState()
    panel = SessionPanel(
      configuration, parts, duration: options.duration?.frameCount(at: configuration.sampleRate)
    ) {
      Terminal.hasKeyboard
        ? (parts.keys.bindings + KeyBindings.session).briefs : ["Ctrl-C ends"]
    }
  }

  private var isVirtual: Bool { watchdog != nil }
  private var recording: RecordingWatch? { parts.recording }

  func process(_ snapshot: SessionSnapshot, _ granted: GrantedPriority?) -> SessionCommand {
    if !hasStarted { start(granted) }
    for event in snapshot.events where !deviceEvents.emit(event) { emit(event) }
    if let found = snapshot.deviceReturn { deviceEvents.emit(found) }
    parts.protection?.poll()
    if options.json { for reading in snapshot.readings { emit(reading, snapshot) } }
    if let drift = snapshot.drift {
      emit(drift, snapshot)
      checkSteps(drift.addedFrames, snapshot)
    }
    // While the device is away, no frame advances, and `presentFrame` adds the time since the last.
    if snapshot.frames != lastSnapshot.frames || snapshot.frames == 0 {
      lastSnapshot = (snapshot.frames, HostClock.nanoseconds)
    }
    request.checkDisk()
    panel?.draw(snapshot)
    let reason = recording?.poll() ?? parts.poll(snapshot)
    isOver = isOver || reason != nil
    let command = nextCommand()
    return reason.map { .stop($0) } ?? command
  }

  /// Waits for a signal or a key, and handles it.
  private func nextCommand() -> SessionCommand {
    // The request arrived while this thread was busy.
    if requestedEnd == nil, request.age != nil { return end(.signal, isNoted: true) }
    let received = signals.wait(
      milliseconds: waitMilliseconds, watching: isKeyboardClosed ? nil : keyboard.awaited)
    switch received {
    case .signal(.end):
      return end(.signal)
    case .readable:
      switch keyboard.press() {
      case .key(let key): return press(key)
      // No further key can be read.
      case .end:
        isKeyboardClosed = true
        recording?.startWithoutKeyboard(at: presentFrame())
      case .nothing: break
      }
      return .proceed
    case .signal(let signal):
      parts.keys.perform(at: presentFrame()) { $0.action(for: signal) }
      return .proceed
    case .timeout: return .proceed
    }
  }

  private func press(_ key: Key) -> SessionCommand {
    switch KeyBindings.session.action(for: key) {
    case .end: return end(.key)
    case .showKeys:
      inform("keys", "keys: \(keys.map(\.sentence).joined(separator: ", ")).")
    default:
      let isKnown = parts.keys.perform(at: presentFrame()) { $0.action(for: key) }
      if !isKnown, let name = key.name, unusedKeys.takes(at: HostClock.seconds) {
        inform("keyUnused", "\(name) does nothing here; ? shows the keys.")
      }
    }
    return .proceed
  }

  /// The keys that have an effect now.
  private var keys: [KeyBinding] { parts.keys.bindings + KeyBindings.session }

  /// The unit's present frame for a key or a signal, not before that of an earlier one.
  private func presentFrame() -> Int {
    var frame = lastSnapshot.frames
    if !isVirtual {
      let passed = Double(HostClock.nanoseconds - lastSnapshot.nanoseconds) * 1e-9
      frame += Int(clamping: passed * Double(configuration.sampleRate))
    }
    lastRequestFrame = max(lastRequestFrame, frame)
    return lastRequestFrame
  }

  /// The time to wait for a signal or a key: 0 in virtual time, and short while the session ends.
  private var waitMilliseconds: Int32 {
    isVirtual ? 0 : isOver || requestedEnd != nil ? 5 : panel == nil ? 100 : 45
  }

  private func end(_ reason: StopReason, isNoted: Bool = false) -> SessionCommand {
    requestedEnd = requestedEnd ?? reason
    let isRepeated = !isNoted && request.note()
    if recording?.leaveCommands() == true { return .stop(reason) }
    if isRepeated { request.leave() }
    return .stop(reason)
  }

  private func start(_ granted: GrantedPriority?) {
    hasStarted = true
    if options.json {
      let follows = options.followsProfile(configuration)
      Terminal.emit(.started(configuration, granted, followsProfile: follows))
    } else if options.verbose, !options.quiet {
      Terminal.say("\(configuration.sentence)")
    }
    if let warning = granted?.optionWarning { warn("noRealtimePriority", warning) }
  }

  private func emit(_ event: TimelineEvent) {
    let direction = event.kind == .playbackXrun ? "playback" : "capture"
    let loss = event.frames == 0 ? "" : " lost \(event.frames.counted("frame"))"
    xrunCount += 1
    let end =
      switch xrunCount {
      case Self.xrunsBeforeRemedy: ". \(DeviceFailure.enlargePeriodHint)"
      case Self.maximumXrunLines: "; the summary has the number of all."
      default: "."
      }
    reportEvent(
      .xrun(direction, .gap(event.frame, event.frames)),
      "a \(direction) xrun at frame \(event.frame)\(loss)\(end)",
      quiet: options.quiet || xrunCount > Self.maximumXrunLines)
  }

  /// Warns once if the latency is much longer than requested. The steps are measured during the
  /// first second.
  private func checkSteps(_ added: Int, _ snapshot: SessionSnapshot) {
    guard snapshot.frames >= configuration.sampleRate,
      Double(added) > configuration.latencyFrames / 2, Self.hasWarnedOfSteps.raiseFirst()
    else { return }
    let milliseconds = configuration.seconds(added) * 1000
    warn(
      "largeSteps",
      "The device \(configuration.deviceNames) delivers sound in larger steps than the period: "
        + "\(added) frames (\(milliseconds.shown(1)) ms) more are kept between input and output.",
      hint: "Set a smaller quantum in the sound server, or use the card directly with --device.")
  }

  /// Reports the drift of two clocks once per second with --verbose.
  private func emit(_ drift: DriftReading, _ snapshot: SessionSnapshot) {
    guard options.verbose, snapshot.frames >= nextDrift else { return }
    nextDrift = snapshot.frames + configuration.sampleRate
    reportEvent(
      Event(
        "drift",
        ["seconds": configuration.seconds(snapshot.frames).digits(3)] + drift.fields),
      "the input clock runs \(drift.ppm.shown(2)) ppm faster, and the delay is "
        + "\(drift.errorFrames.shown(2)) frames below its target.", quiet: options.quiet)
  }

  private func emit(_ reading: MeterReading, _ snapshot: SessionSnapshot) {
    let seconds = configuration.seconds(snapshot.frames)
    // The values are converted to JSON here: values of mixed types would be boxed ten times a
    // second.
    let fields = Fields([
      ("seconds", seconds.digits(3)),
      ("peakDBFS", .array(reading.peakDBFS.map { $0.digits(2) })),
      ("rmsDBFS", .array(reading.rmsDBFS.map { $0.digits(2) })),
      (
        "xruns",
        .object(.xruns(capture: snapshot.captureXruns, playback: snapshot.playbackXruns))
      ),
      ("lostFrames", .integer(snapshot.lostFrames)),
    ])
    Terminal.emitNow(Event("meter", fields + (recording?.state.fields ?? [:])))
  }
}
