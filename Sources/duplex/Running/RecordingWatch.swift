import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

/// A recording's part in watching a session: tells what happens on its way to disk, and passes on
/// what the user asks of it.
final class RecordingWatch: KeyResponder {
  private let writer: RecordingWriter
  private let path: String
  private let messages: RecordingMessages
  private var marks = 0
  private var isWaitTold = false
  private var hasStarted: Bool
  /// Whether levels are measured, and shown.
  let measuresLevels: Bool
  /// The device that is recorded; nil where what is played is recorded.
  private let captureDevice: String?
  private var isSilenceTold = false

  /// Watches `writer`, which writes as `plan` says, with `recordsMix` what is played. With `waits`
  /// the recording begins when the user says so.
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

  /// Levels for a meter that is looked at.
  var state: RecordingState { writer.events.latest }

  /// What a person is told is going on.
  var title: String { "Recording to " + (path == "-" ? "standard output" : state.path ?? path) }

  /// Whether it waits to be started.
  var isWaiting: Bool { !hasStarted }

  /// Frames of the pauses that are over.
  private(set) var pausedFrames = 0

  /// Tells what happened; answers with a reason to stop, where there is one.
  func poll() -> StopReason? {
    for event in writer.events.take() { emit(event) }
    if writer.isWaitingForOthers, !isWaitTold {
      isWaitTold = true
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
    case .split: writer.remote.ask(.split, at: frame)
    default: break
    }
  }

  /// The user pauses, or goes on.
  func pause(_ pauses: Bool, at frame: Int) {
    writer.remote.ask(pauses ? .pause : .resume, at: frame)
  }

  /// The user asks for the end: true where only commands were waited for.
  func leaveCommands() -> Bool {
    guard writer.isWaitingForOthers else { return false }
    writer.leaveCommands()
    return true
  }

  /// No key can come any more: there is nothing left to wait for.
  func loseKeyboard(at frame: Int) {
    if !hasStarted { start(at: frame) }
  }

  private func start(at frame: Int) {
    hasStarted = true
    writer.remote.ask(.start, at: frame)
    inform("recording", "recording.")
  }

  private func mark(at frame: Int) {
    marks += 1
    writer.remote.ask(.mark("Marker \(marks)"), at: frame)
  }

  /// Tells that all was silence, where that is not told yet. Once it is over.
  func conclude() {
    if !isSilenceTold, writer.report.isSilent { tellOfSilence() }
  }

  /// Says why all is silence, as far as the mixer knows.
  private func tellOfSilence() {
    isSilenceTold = true
    let notice = captureDevice.map { SilenceSearch.notice(of: $0, within: 300) }
    (notice ?? SilenceSearch.ofMix).report()
  }

  private func emit(_ event: RecordingEvent) {
    if case .onlySilence = event { tellOfSilence() }
    if case .resumed(let pause) = event { pausedFrames += pause.frames }
    messages.tell(event)
  }
}

/// `--stop-after-silence`.
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

/// Tells when a microphone has been silent for long enough to end a session.
final class SilenceStop {
  /// What is louder than this is no silence: above the noise of usual microphones, below a whisper.
  private static let thresholdDBFS = -50.0

  private let frames: Int
  private var silentFrames = 0

  /// Ends a session after `frames` frames of silence, to the reading of the meter.
  init(frames: Int) { self.frames = max(1, frames) }

  /// Follows the readings of a moment. The reason to stop, where it is reached.
  func poll(_ moment: SessionMoment) -> StopReason? {
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

/// Looks in the mixer of an input that delivers nothing but digital silence for the reason, on a
/// thread of its own: the mixer may be a sound server's, which may not answer.
enum SilenceSearch {
  /// What the mixer of `device` says, or what is known without, where it takes longer than
  /// `milliseconds`. A simulated device has no mixer.
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

  /// The notice of silence where no reason is known.
  private static let unknown = Notice.warning(
    "onlySilence", "Only silence was captured: is the microphone muted?",
    hint: "Check its switch, its cable and the input channel; with sim, use sim:mic=FILE.")

  /// The notice of silence where what is played was recorded.
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
