import AudioBasics
import AudioDevices
import AudioSessions
import Glibc
import RealtimeAudio

/// What a session does, for a person.
struct SessionTask {
  /// "Overdubbing song.wav to take.wav".
  var title: String
  /// How many frames it takes.
  var frames: Int
}

/// Watches a session while it runs: turns what happens into events, draws the meter,
/// and hears signals and keys.
final class SessionWatch {
  private let options: AudioOptions
  private let configuration: DuplexConfiguration
  private let signals: SignalWatch
  private let keyboard: Keyboard
  private let isVirtual: Bool
  /// Where time is virtual.
  private let standstill: StandstillWatch?
  private let deviceEvents: DeviceEvents
  private let drawsMeter: Bool
  /// When what is shown began: the take, where it had to wait.
  private var takeStart: Double?
  private var holds = PeakHolds()
  private var hasStarted = false
  /// When the first signal came.
  private var endingSince: UInt64?
  /// A command's own business at each moment; answers with a reason to stop, where there is one.
  var poll: (SessionMoment) -> StopReason? = { _ in nil }
  /// What a person is shown to be done, where it is no recording of its own.
  var task: SessionTask?
  /// A command's own keys, and what they do.
  var press: (Key) -> Void = { _ in }
  var ownKeys: [String] = []
  /// What is recorded, where something is.
  private let recording: RecordingWatch?
  /// What protects the output, where a microphone is heard.
  private let protection: MonitorProtectionDisplay?
  /// Pauses, and changes the microphone's gain.
  private let mixerKeys: MixerKeys?
  /// When the last moment was, and how far the unit had come.
  private var lastMoment = (frames: 0, nanoseconds: UInt64(0))
  private var isDeaf = false
  /// Whether there was a reason to stop: the end is near, and looked for more often.
  private var isOver = false
  /// When the clocks are told of next.
  private var nextDrift = 0
  private var hasWarnedOfSteps = false

  init(
    _ options: AudioOptions, _ configuration: DuplexConfiguration, isVirtual: Bool,
    background: [any BackgroundWork], recording: RecordingWatch? = nil,
    protection: MonitorProtectionDisplay? = nil, mixerKeys: MixerKeys? = nil
  ) {
    self.options = options
    self.mixerKeys = mixerKeys
    self.protection = protection
    self.recording = recording
    // A recording that waits for its start may be started by a script, through a pipe.
    keyboard = Keyboard(readsPipe: recording?.isWaiting == true)
    self.configuration = configuration
    self.isVirtual = isVirtual
    deviceEvents = DeviceEvents(options, configuration)
    signals = SignalWatch()
    standstill = isVirtual ? StandstillWatch(background) : nil
    // A recording must be stoppable, whatever becomes of the terminal.
    Terminal.stopWaiting()
    drawsMeter = !options.quiet && Terminal.isLive && !isVirtual
  }

  func moment(_ moment: SessionMoment, _ granted: GrantedPriority?) -> SessionCommand {
    if !hasStarted { start(granted) }
    for event in moment.events where !deviceEvents.emit(event) { emit(event) }
    if let found = moment.deviceReturn { deviceEvents.emit(found) }
    protection?.poll()
    for reading in moment.readings { emit(reading, moment) }
    if let drift = moment.drift {
      emit(drift, moment)
      warn(ofSteps: drift.addedFrames, moment)
    }
    lastMoment = (moment.frames, HostClock.nanoseconds)
    let reason = recording?.poll() ?? poll(moment)
    isOver = isOver || reason != nil
    let command = nextCommand()
    return reason.map { .stop($0) } ?? command
  }

  /// Waits for a signal or a key, and does what it asks for.
  private func nextCommand() -> SessionCommand {
    // While this thread was in something else.
    if endingSince == nil, standstill?.isEndWanted == true { return end(.signal) }
    let received = signals.wait(
      milliseconds: waitMilliseconds, watching: isDeaf ? nil : keyboard.awaited)
    switch received {
    case .signal(.end):
      return end(.signal)
    case .readable:
      switch keyboard.press() {
      case .key(let key): return obey(key)
      // No key will come any more.
      case .end:
        isDeaf = true
        recording?.loseKeyboard(at: frame)
      case .nothing: break
      }
      return .proceed
    case .signal(let signal):
      recording?.handle(signal, at: frame)
      return .proceed
    case .timeout: return .proceed
    }
  }

  private func obey(_ key: Key) -> SessionCommand {
    if key == .character("q") { return end(.key) }
    if key == .character("?") {
      Notice.info("keys", "keys: \(keyHints.joined(separator: ", ")).").report()
      return .proceed
    }
    if recording?.press(key, at: frame) == true || protection?.press(key) == true
      || mixerKeys?.press(key, recording: recording, at: frame) == true
    {
      return .proceed
    }
    press(key)
    return .proceed
  }

  /// What the keys do now.
  private var keyHints: [String] {
    ownKeys + (mixerKeys?.hints ?? []) + (recording == nil ? [] : ["m marker", "s split"])
      + (protection == nil ? [] : ["d dim"]) + ["? keys", "q ends"]
  }

  /// How far the unit has come by now.
  private var frame: Int {
    guard !isVirtual else { return lastMoment.frames }
    let passed = Double(HostClock.nanoseconds - lastMoment.nanoseconds) * 1e-9
    return lastMoment.frames + Int(clamping: passed * Double(configuration.sampleRate))
  }

  /// Nothing waits in virtual time. While the session ends, the keyboard is read more often.
  private var waitMilliseconds: Int32 { isVirtual ? 0 : isOver || endingSince != nil ? 5 : 100 }

  /// Shows what plays where the meter would be.
  func show(_ playback: @autoclosure () -> PlaybackState?, _ moment: SessionMoment) {
    guard drawsMeter, !options.json else { return }
    guard var state = playback() else { return Terminal.redraw("") }
    state.device = "\(configuration.deviceNames), \(configuration.sampleRate) Hz"
    state.xruns = moment.playbackXruns
    Terminal.redraw(screen.lines(state).map { "\($0)" })
  }

  /// The meter goes.
  func finish() { Terminal.endDrawing() }

  private func end(_ reason: StopReason) -> SessionCommand {
    standstill?.noteEnd()
    if recording?.leave() == true { return .stop(reason) }
    // `timeout` and terminals may send one signal twice. Only one that comes later is a second wish:
    // to end at once, with what the file holds since its header was last written.
    if let since = endingSince, HostClock.nanoseconds > since + 300_000_000 {
      Keyboard.giveBack()
      Glibc.exit(ExitStatus.done.rawValue)
    }
    endingSince = endingSince ?? HostClock.nanoseconds
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
    if let warning = granted?.warning { Notice.warning("noRealtimePriority", warning).report() }
  }

  private func emit(_ event: TimelineEvent) {
    let direction = event.kind == .playbackXrun ? "playback" : "capture"
    if options.json {
      Terminal.emit(
        Event(
          "xrun",
          [
            "direction": .string(direction), "frame": .integer(event.frame),
            "frames": .integer(event.frames),
          ]
        ))
    } else if !options.quiet {
      Terminal.say(
        "duplex: a \(direction) xrun at frame \(event.frame) lost \(event.frames) frames.")
    }
  }

  /// Says once that the delay is much longer than was asked for. The first second is for learning.
  private func warn(ofSteps added: Int, _ moment: SessionMoment) {
    guard !hasWarnedOfSteps, moment.frames >= configuration.sampleRate,
      Double(added) > configuration.latencyFrames / 2
    else { return }
    hasWarnedOfSteps = true
    let milliseconds = Double(added) * 1000 / Double(configuration.sampleRate)
    Notice.warning(
      "largeSteps",
      "The device \(configuration.deviceNames) delivers sound in larger steps than the period: "
        + "\(added) frames (\(milliseconds.shown(1)) ms) more are kept between input and output.",
      hint: "Ask the sound server for a smaller quantum, or name the card itself with --device."
    ).report()
  }

  /// Once a second, for who wants to see how two clocks come together.
  private func emit(_ drift: DriftReading, _ moment: SessionMoment) {
    guard options.verbose, moment.frames >= nextDrift else { return }
    nextDrift = moment.frames + configuration.sampleRate
    let seconds = Double(moment.frames) / Double(configuration.sampleRate)
    if options.json {
      Terminal.emit(Event("drift", [("seconds", .fixed(seconds, digits: 3))] + drift.members))
    } else {
      Terminal.say(
        "duplex: the input runs \(drift.ppm.shown(2)) ppm faster, the delay is "
          + "\(drift.errorFrames.shown(2)) frames short.")
    }
  }

  /// The terminal as it is now: it may have been resized.
  private var screen: LiveScreen {
    let size = Terminal.size
    return LiveScreen(columns: size.columns, rows: size.rows, hasUnicode: Terminal.hasUnicode)
  }

  private func draw(_ reading: MeterReading, seconds: Double, _ moment: SessionMoment) {
    let state = recording?.state
    if state?.isOpen != false { takeStart = takeStart ?? seconds }
    var live = LiveState(reading)
    live.title = recording?.title ?? task?.title ?? "Input level"
    live.device = "\(configuration.deviceNames), \(configuration.sampleRate) Hz"
    let paused = Double(recording?.pausedFrames ?? 0) / Double(configuration.sampleRate)
    live.seconds = seconds - (takeStart ?? seconds) - paused
    let frames = task?.frames ?? options.duration?.frameCount(at: configuration.sampleRate)
    live.duration = frames.map { Double($0) / Double(configuration.sampleRate) }
    live.isWaiting = state?.isOpen == false
    live.levels = state?.levels
    live.diskSeconds = state?.secondsLeft
    live.xruns = moment.captureXruns + moment.playbackXruns
    live.lostFrames = moment.lostFrames
    live.isPaused = state?.isPaused == true
    live.keys = keyHints
    live.holds = holds.follow(reading.peakDBFS, seconds: seconds)
    Terminal.redraw(screen.lines(live).map { $0.drawn(hasColour: Terminal.hasColour) })
  }

  private func emit(_ reading: MeterReading, _ moment: SessionMoment) {
    let seconds = Double(moment.frames) / Double(configuration.sampleRate)
    if options.json {
      Terminal.tellNow(
        Event(
          "meter",
          [
            ("seconds", .fixed(seconds, digits: 3)),
            ("peakDBFS", .array(reading.peakDBFS.map { .fixed($0, digits: 2) })),
            ("rmsDBFS", .array(reading.rmsDBFS.map { .fixed($0, digits: 2) })),
            ("xruns", .xruns(capture: moment.captureXruns, playback: moment.playbackXruns)),
            ("lostFrames", .integer(moment.lostFrames)),
          ] + JSON.meter(recording?.state)
        ))
    } else if drawsMeter {
      draw(reading, seconds: seconds, moment)
    }
  }
}
