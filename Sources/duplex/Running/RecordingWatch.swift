import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The part of the session's watch that concerns a recording: reports the events of the writer, and
/// passes the requests of the user to it.
final class RecordingWatch: KeyResponder {
  private let writer: RecordingWriter
  private let path: String
  private let messages: RecordingMessages
  private var marks = 0
  private var isWaitReported = false
  private var hasStarted: Bool
  /// Whether levels are measured and shown.
  let measuresLevels: Bool
  /// The device that is recorded; nil if the output is recorded.
  private let captureDevice: String?
  private var isSilenceReported = false

  /// Watches `writer`, which writes according to `plan`; with `recordsMix` it records the output.
  /// With `waits` the recording starts when the user requests it.
  init(
    _ writer: RecordingWriter, _ configuration: DuplexConfiguration, _ plan: RecordingPlan,
    recordsMix: Bool, waits: Bool
  ) {
    self.writer = writer
    measuresLevels = plan.measuresLevels
    path = plan.path
    captureDevice = recordsMix ? nil : configuration.capture?.device
    messages = RecordingMessages(plan)
    hasStarted = !waits
    if waits {
      inform(
        "ready",
        "waiting for the start: \(KeyBindings.start.map(\.sentence).joined()), and so does SIGUSR1."
      )
    }
  }

  /// The newest state of the recording, with its levels, after `requestState`.
  var state: RecordingState { writer.events.state }

  /// Requests that `state` is updated from now on.
  func requestState() { writer.events.requestState() }

  /// The title for the screen.
  var title: String { "Recording to " + (path == "-" ? "standard output" : state.path ?? path) }

  /// Whether the recording waits for its start.
  var isWaiting: Bool { !hasStarted }

  /// The number of frames of the pauses that have ended.
  private(set) var pausedFrames = 0

  /// Reports the events since the last call. Returns the reason to stop; nil if there is none.
  func poll() -> StopReason? {
    for event in writer.events.take() { emit(event) }
    if writer.isWaitingForOthers, !isWaitReported {
      isWaitReported = true
      inform(
        "waitingForCommands",
        "all files are saved; waiting for the --on-file commands. Ctrl-C ends without waiting.")
    }
    if writer.isFailed { return .disk }
    return writer.isGateFinished ? .duration : nil
  }

  var bindings: [KeyBinding] {
    hasStarted ? KeyBindings.recording : KeyBindings.start + KeyBindings.take
  }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .startRecording: start(at: frame)
    case .setMarker: mark(at: frame)
    case .split: writer.control.request(.split, at: frame)
    default: break
    }
  }

  /// Pauses the recording at `frame`, or resumes it.
  func pause(_ pauses: Bool, at frame: Int) {
    writer.control.request(pauses ? .pause : .resume, at: frame)
  }

  /// Returns whether a warning has reported `failure`.
  func hasWarned(of failure: FileFailure?) -> Bool {
    messages.warnings.contains { $0 == failure }
  }

  /// Ends the wait for commands of --on-file. Returns false if the writer was not waiting for them.
  func leaveCommands() -> Bool {
    guard writer.isWaitingForOthers else { return false }
    writer.leaveCommands()
    return true
  }

  /// Starts a recording that waits for a key, because no key can be read any more.
  func startWithoutKeyboard(at frame: Int) {
    if !hasStarted { start(at: frame) }
  }

  private func start(at frame: Int) {
    hasStarted = true
    writer.control.request(.start, at: frame)
    inform("recording", "recording.")
  }

  private func mark(at frame: Int) {
    marks += 1
    writer.control.request(.mark("Marker \(marks)"), at: frame)
  }

  /// Reports that the whole recording is silent, unless this was reported. Call it after the
  /// session.
  func conclude() {
    if !isSilenceReported, writer.report.isSilent { reportSilence() }
  }

  /// Reports silence, with its cause if the mixer shows it.
  private func reportSilence() {
    isSilenceReported = true
    let notice = captureDevice.map { SilenceSearch.notice(of: $0, within: 300) }
    (notice ?? SilenceSearch.ofMix).report()
  }

  private func emit(_ event: RecordingEvent) {
    if case .onlySilence = event { reportSilence() }
    if case .resumed(let pause) = event { pausedFrames += pause.frames }
    messages.report(event)
  }
}
