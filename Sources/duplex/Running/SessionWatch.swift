import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// Watches a session while it runs: turns what happens into events, draws the meter, and receives signals
/// and keys.
final class SessionWatch {
  private let options: AudioOptions
  private let configuration: DuplexConfiguration
  private let parts: SessionParts
  private let signals = SignalWatch()
  private let keyboard: Keyboard
  /// Where time is virtual.
  private let standstill: StandstillWatch?
  private let request: EndRequest
  private let deviceEvents: DeviceEvents
  private let drawsMeter: Bool
  /// When what is shown began: the recording, where it had to wait.
  private var recordingStart: Double?
  private var holds = PeakHolds()
  private var hasStarted = false
  /// When the last moment was, and how far the unit had come.
  private var lastMoment = (frames: 0, nanoseconds: UInt64(0))
  private var isKeyboardClosed = false
  /// Whether the user has asked for the end here.
  private var isEnding = false
  /// Whether there was a reason to stop: the end is near, and looked for more often.
  private var isOver = false
  /// When the clocks are told of next.
  private var nextDrift = 0
  private var hasWarnedOfSteps = false

  /// `standstill` where time is virtual.
  init(
    _ options: AudioOptions, _ configuration: DuplexConfiguration, _ parts: SessionParts,
    _ request: EndRequest, standstill: StandstillWatch?
  ) {
    self.options = options
    self.configuration = configuration
    self.parts = parts
    self.standstill = standstill
    self.request = request
    // A recording that waits for its start may be started by a script, through a pipe.
    keyboard = Keyboard(readsPipe: parts.recording?.isWaiting == true)
    deviceEvents = DeviceEvents(
      configuration: configuration, quiet: options.quiet, verbose: options.verbose)
    // A recording must be stoppable, whatever becomes of the terminal.
    Terminal.stopWaiting()
    drawsMeter = !options.quiet && Terminal.isLive && standstill == nil && !options.json
  }

  private var isVirtual: Bool { standstill != nil }
  private var recording: RecordingWatch? { parts.recording }

  func moment(_ moment: SessionMoment, _ granted: GrantedPriority?) -> SessionCommand {
    if !hasStarted { start(granted) }
    for event in moment.events where !deviceEvents.emit(event) { emit(event) }
    if let found = moment.deviceReturn { deviceEvents.emit(found) }
    parts.protection?.poll()
    for reading in moment.readings { emit(reading, moment) }
    if let drift = moment.drift {
      emit(drift, moment)
      checkSteps(drift.addedFrames, moment)
    }
    lastMoment = (moment.frames, HostClock.nanoseconds)
    request.checkDisk()
    let reason = recording?.poll() ?? poll(moment)
    isOver = isOver || reason != nil
    let command = nextCommand()
    return reason.map { .stop($0) } ?? command
  }

  private func poll(_ moment: SessionMoment) -> StopReason? {
    if let keys = parts.playKeys, drawsMeter { show(keys.state, moment) }
    return parts.poll(moment)
  }

  /// Waits for a signal or a key, and does what it asks for.
  private func nextCommand() -> SessionCommand {
    // Noted while this thread was in something else.
    if !isEnding, request.age != nil { return end(.signal, isNoted: true) }
    let received = signals.wait(
      milliseconds: waitMilliseconds, watching: isKeyboardClosed ? nil : keyboard.awaited)
    switch received {
    case .signal(.end):
      return end(.signal)
    case .readable:
      switch keyboard.press() {
      case .key(let key): return press(key)
      // No key will come any more.
      case .end:
        isKeyboardClosed = true
        recording?.loseKeyboard(at: frame)
      case .nothing: break
      }
      return .proceed
    case .signal(let signal):
      parts.keys.perform(at: frame) { $0.action(for: signal) }
      return .proceed
    case .timeout: return .proceed
    }
  }

  private func press(_ key: Key) -> SessionCommand {
    switch KeyBindings.session.action(for: key) {
    case .end: return end(.key)
    case .showKeys:
      let hints = parts.playKeys == nil ? keys.briefs : keys.map(\.sentence)
      inform("keys", "keys: \(hints.joined(separator: ", ")).")
    default: parts.keys.perform(at: frame) { $0.action(for: key) }
    }
    return .proceed
  }

  /// What the keys do now.
  private var keys: [KeyBinding] { parts.keys.bindings + KeyBindings.session }

  /// How far the unit has come by now.
  private var frame: Int {
    guard !isVirtual else { return lastMoment.frames }
    let passed = Double(HostClock.nanoseconds - lastMoment.nanoseconds) * 1e-9
    return lastMoment.frames + Int(clamping: passed * Double(configuration.sampleRate))
  }

  /// Nothing waits in virtual time. While the session ends, the keyboard is read more often.
  private var waitMilliseconds: Int32 { isVirtual ? 0 : isOver || isEnding ? 5 : 100 }

  /// Shows what plays where the meter would be.
  private func show(_ playback: PlaybackState?, _ moment: SessionMoment) {
    guard var state = playback else { return Terminal.redraw("") }
    state.device = "\(configuration.deviceNames), \(configuration.sampleRate) Hz"
    state.xruns = moment.playbackXruns
    Terminal.redraw(LiveScreen.current.lines(state).map { "\($0)" })
  }

  private func end(_ reason: StopReason, isNoted: Bool = false) -> SessionCommand {
    isEnding = true
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
    tell(
      .xrun(direction, .gap(event.frame, event.frames)),
      "a \(direction) xrun at frame \(event.frame) lost \(event.frames) frames.",
      quiet: options.quiet)
  }

  /// Says once that the delay is much longer than was asked for. The first second is for learning.
  private func checkSteps(_ added: Int, _ moment: SessionMoment) {
    guard !hasWarnedOfSteps, moment.frames >= configuration.sampleRate,
      Double(added) > configuration.latencyFrames / 2
    else { return }
    hasWarnedOfSteps = true
    let milliseconds = configuration.seconds(added) * 1000
    warn(
      "largeSteps",
      "The device \(configuration.deviceNames) delivers sound in larger steps than the period: "
        + "\(added) frames (\(milliseconds.shown(1)) ms) more are kept between input and output.",
      hint: "Ask the sound server for a smaller quantum, or name the card itself with --device.")
  }

  /// Once a second, for who wants to see how two clocks come together.
  private func emit(_ drift: DriftReading, _ moment: SessionMoment) {
    guard options.verbose, moment.frames >= nextDrift else { return }
    nextDrift = moment.frames + configuration.sampleRate
    tell(
      Event(
        "drift",
        ["seconds": configuration.seconds(moment.frames).digits(3)] + drift.fields),
      "the input runs \(drift.ppm.shown(2)) ppm faster, the delay is "
        + "\(drift.errorFrames.shown(2)) frames short.", quiet: options.quiet)
  }

  private func draw(_ reading: MeterReading, seconds: Double, _ moment: SessionMoment) {
    let state = recording?.state
    if state?.isOpen != false { recordingStart = recordingStart ?? seconds }
    var live = LiveState(reading)
    live.title = recording?.title ?? parts.task?.title ?? "Input level"
    live.device = "\(configuration.deviceNames), \(configuration.sampleRate) Hz"
    let paused = configuration.seconds(recording?.pausedFrames ?? 0)
    live.seconds = seconds - (recordingStart ?? seconds) - paused
    let frames = parts.task?.frames ?? options.duration?.frameCount(at: configuration.sampleRate)
    live.duration = frames.map(configuration.seconds)
    live.isWaiting = state?.isOpen == false
    live.levels = state?.levels
    live.diskSeconds = state?.secondsLeft
    live.xruns = moment.captureXruns + moment.playbackXruns
    live.lostFrames = moment.lostFrames
    live.isPaused = state?.isPaused == true
    live.keys = keys.briefs
    live.holds = holds.follow(reading.peakDBFS, seconds: seconds)
    Terminal.redraw(LiveScreen.current.lines(live).map { $0.drawn(hasColour: Terminal.hasColour) })
  }

  private func emit(_ reading: MeterReading, _ moment: SessionMoment) {
    let seconds = configuration.seconds(moment.frames)
    if options.json {
      // As JSON at once: ten times a second, values of many types would be boxed.
      let fields = Fields([
        ("seconds", seconds.digits(3)),
        ("peakDBFS", .array(reading.peakDBFS.map { $0.digits(2) })),
        ("rmsDBFS", .array(reading.rmsDBFS.map { $0.digits(2) })),
        (
          "xruns",
          .object(.xruns(capture: moment.captureXruns, playback: moment.playbackXruns))
        ),
        ("lostFrames", .integer(moment.lostFrames)),
      ])
      Terminal.tellNow(Event("meter", fields + (recording?.state.fields ?? [:])))
    } else if drawsMeter {
      draw(reading, seconds: seconds, moment)
    }
  }
}

/// Tells of a device that goes away and comes back.
struct DeviceEvents {
  let configuration: DuplexConfiguration
  /// Whether only scripts are told.
  let quiet: Bool
  let verbose: Bool

  private var name: String { configuration.deviceNames }
  private var inputName: String { configuration.capture?.device ?? name }
  private var outputName: String { configuration.playback?.device ?? name }

  private func secondaryName(_ event: TimelineEvent) -> String {
    configuration.secondaryOutputs.indices.contains(event.frames)
      ? configuration.secondaryOutputs[event.frames].device : name
  }

  /// Tells of `event`; false where it has nothing to do with the device.
  func emit(_ event: TimelineEvent) -> Bool {
    switch event.kind {
    case .deviceLost: lost("device", name, event, " and is waited for")
    case .captureLost: lost("input", inputName, event, "; the output goes on")
    case .playbackLost: lost("output", outputName, event, "; the input goes on")
    case .secondaryOutputLost: lost("output", secondaryName(event), event, "")
    case .deviceReturned: returned("device", name, event, frames: event.frames)
    case .captureReturned: returned("input", inputName, event, frames: event.frames)
    case .playbackReturned: returned("output", outputName, event, frames: 0)
    case .secondaryOutputReturned: returned("output", secondaryName(event), event, frames: 0)
    case .deviceAbsent: absent("device", name)
    case .captureAbsent: absent("input", inputName)
    case .playbackAbsent: absent("output", outputName)
    case .captureXrun, .playbackXrun, .overflow, .playing, .passed: return false
    }
    return true
  }

  private func lost(_ noun: String, _ name: String, _ event: TimelineEvent, _ rest: String) {
    let fields: Fields = ["state": "lost", "device": name, "frame": event.frame]
    say("the \(noun) \(name) went away at frame \(event.frame)\(rest).", Event("device", fields))
  }

  private func returned(_ noun: String, _ name: String, _ event: TimelineEvent, frames: Int) {
    let seconds = configuration.seconds(frames).shown(2)
    let loss = frames == 0 ? "" : "; \(seconds) s, \(frames) frames, were lost"
    let fields: Fields = [
      "state": "returned", "device": name, "frame": event.frame, "frames": frames,
    ]
    say("the \(noun) \(name) is back\(loss).", Event("device", fields))
  }

  private func absent(_ noun: String, _ name: String) {
    say("the \(noun) \(name) did not come back before the end.", nil)
  }

  /// In a sentence too where events are printed.
  private func say(_ sentence: String, _ event: Event?) {
    if OutputMode.current.json { event.map(Terminal.emit) }
    if !quiet { Terminal.say("duplex: \(sentence)") }
  }

  /// Tells what was found of a device that was away.
  func emit(_ found: DeviceReturn) {
    switch found {
    case .refused(let failure):
      Notice.warning(ToolFailure(failure)).report()
    case .returned(let cards) where verbose && !cards.isEmpty:
      let numbers = cards.map { "\($0)" }.joined(separator: " and ")
      inform("deviceFound", "the device \(name) is found again, as card \(numbers).")
    case .returned, .absent: break
    }
  }
}
