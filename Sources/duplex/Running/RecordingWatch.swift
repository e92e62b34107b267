import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

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

  /// The latest state of the recording, with its levels. Reading it requests the levels.
  var state: RecordingState { writer.events.latest }

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
    case .split: writer.control.ask(.split, at: frame)
    default: break
    }
  }

  /// Pauses the recording at `frame`, or resumes it.
  func pause(_ pauses: Bool, at frame: Int) {
    writer.control.ask(pauses ? .pause : .resume, at: frame)
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
    writer.control.ask(.start, at: frame)
    inform("recording", "recording.")
  }

  private func mark(at frame: Int) {
    marks += 1
    writer.control.ask(.mark("Marker \(marks)"), at: frame)
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

/// The option `--stop-after-silence`.
struct SilenceStopOption: ParsableArguments {
  @Option(
    help: .init(
      "Stop when the microphone has been silent for this long: no sample above -50 dBFS.",
      valueName: "time"))
  var stopAfterSilence: TimeOption?

  /// Follows the level of a microphone at `rate`; nil if silence does not end the session.
  func follower(at rate: Int) -> SilenceStop? {
    stopAfterSilence.map { SilenceStop(frames: $0.frameCount(at: rate)) }
  }
}

/// Determines when a microphone has been silent long enough to end a session.
final class SilenceStop {
  /// The threshold of silence, which is above the noise of usual microphones and below a whisper.
  private static let thresholdDBFS = -50.0

  private let frames: Int
  private var silentFrames = 0

  /// Ends a session after `frames` frames of silence, to the reading of the meter.
  init(frames: Int) { self.frames = max(1, frames) }

  /// Processes the readings of a moment. Returns the reason to stop; nil if there is none.
  func poll(_ moment: SessionSnapshot) -> StopReason? {
    for reading in moment.readings {
      let isSilent = reading.peakDBFS.allSatisfy { $0 <= Self.thresholdDBFS }
      silentFrames = isSilent ? silentFrames + reading.frameCount : 0
      if silentFrames >= frames { return .silence }
    }
    return nil
  }

  /// Silence counts from here on: nothing is recorded yet.
  func restart() { silentFrames = 0 }
}

/// Searches the mixer of an input that delivers only digital silence for the cause. The search runs
/// on a separate thread, because the mixer may belong to a sound server that does not respond.
enum SilenceSearch {
  /// Returns a notice with the cause that the mixer of `device` shows, or one without a cause if
  /// the search takes longer than `milliseconds`. A simulated device has no mixer.
  static func notice(of device: String, within milliseconds: Int) -> Notice {
    let found = MutexBox<Notice?>(nil)
    guard !SimulatedDeviceSpecification.isSimulated(device),
      let thread = try? RealtimeThread(
        name: "duplex-mixer", priority: .normal, Work(device: device, found: found))
    else { return unknown }
    let end = HostClock.nanoseconds + UInt64(clamping: milliseconds) * 1_000_000
    while HostClock.nanoseconds < end {
      if let notice = found.withLock({ $0 }) {
        _ = thread.join()
        return notice
      }
      HostClock.pause(milliseconds: 2)
    }
    thread.abandon()
    return unknown
  }

  private struct Work: RealtimeWork, ~Copyable, Sendable {
    let device: String
    let found: MutexBox<Notice?>

    mutating func run() {
      let controls = (try? CardMixers.controls(of: device, isCapture: true)) ?? []
      let notice = CardMixers.silencing(controls).map { SilenceSearch.notice(of: $0, device) }
      found.withLock { $0 = notice ?? SilenceSearch.unknown }
    }
  }

  /// The notice about silence of unknown cause.
  private static let unknown = Notice.warning(
    "onlySilence", "Only silence was captured: is the microphone muted?",
    hint: "Check its switch, its cable and the input channel; with sim, use sim:mic=FILE.")

  /// The notice about silence in a recording of the output.
  static let ofMix = Notice.warning(
    "onlySilence", "Only silence was played and recorded.",
    hint: "Check --mute, the gains, the files of --mix and the microphone's switch.")

  private static func notice(of control: MixerControl, _ device: String) -> Notice {
    if control.isOn == false {
      return .warning(
        "captureSwitchOff",
        "The input is silent: the capture switch of \(control.name) on \(device) is off.",
        hint: "Turn the switch on in alsamixer: F4, then the space bar.")
    }
    return .warning(
      "captureVolumeZero",
      "The input is silent: the capture volume of \(control.name) on \(device) is at zero.",
      hint: "Raise the volume in alsamixer, or with --capture-volume 80%.")
  }
}
