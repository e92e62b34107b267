import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices
import Synchronization

/// A recording's part in watching a session: tells what happens on its way to disk, and passes on
/// what the user wants of it.
final class RecordingWatch: KeyResponder {
  private let saver: RecordingWriter
  private let path: String
  private let words: RecordingWords
  private var marks = 0
  private var isWaitTold = false
  /// When the user first wanted to leave, on the host's clock.
  private var endAsked: UInt64?
  private var hasStarted: Bool
  /// The device that is recorded.
  private let captureDevice: String?
  private var isSilenceTold = false

  /// Watches `saver`. With `waits` the take begins when the user says so.
  init(
    _ saver: RecordingWriter, _ configuration: DuplexConfiguration, path: String, waits: Bool
  ) {
    self.saver = saver
    self.path = path
    captureDevice = configuration.capture?.device
    words = RecordingWords(sampleRate: configuration.sampleRate)
    hasStarted = !waits
    if waits {
      inform("ready", "ready; \(KeyBindings.start.map(\.sentence).joined()), SIGUSR1 as well.")
    }
  }

  /// Levels for a meter that is looked at.
  var state: RecordingState { saver.events.latest }

  /// What a person is told is going on.
  var title: String { "Recording to " + (path == "-" ? "standard output" : path) }

  /// Whether it waits to be started.
  var isWaiting: Bool { !hasStarted }

  /// Frames of the pauses that are over.
  private(set) var pausedFrames = 0

  /// Tells what happened; answers with a reason to stop, where there is one.
  func poll() -> StopReason? {
    for event in saver.events.take() { emit(event) }
    if saver.isWaitingForCommands, !isWaitTold {
      isWaitTold = true
      inform(
        "waitingForCommands",
        "all files are saved; waiting for the --on-file commands. Ctrl-C ends without them.")
    }
    tellOfDisk()
    if saver.isFailed { return .disk }
    return saver.isTakeOver ? .duration : nil
  }

  var bindings: [KeyBinding] {
    (hasStarted ? [] : KeyBindings.start) + KeyBindings.recording
  }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .startRecording: start(at: frame)
    case .setMarker: mark(at: frame)
    case .split: saver.remote.ask(.split, at: frame)
    default: break
    }
  }

  /// The user pauses, or goes on.
  func pause(_ pauses: Bool, at frame: Int) {
    saver.remote.ask(pauses ? .pause : .resume, at: frame)
  }

  /// The user wants to leave: true where that was waiting for commands.
  func leave() -> Bool {
    endAsked = endAsked ?? HostClock.nanoseconds
    guard saver.isWaitingForCommands else { return false }
    saver.leaveCommands()
    return true
  }

  /// Warns once where the disk delays a requested end by more than 250 ms.
  private func tellOfDisk() {
    guard !saver.isWaitingForCommands, let endAsked,
      HostClock.nanoseconds > endAsked + 250_000_000
    else { return }
    DiskNotice.emit()
  }

  /// No key can come any more: there is nothing left to wait for.
  func loseKeyboard(at frame: Int) {
    if !hasStarted { start(at: frame) }
  }

  private func start(at frame: Int) {
    hasStarted = true
    saver.remote.ask(.start, at: frame)
    inform("recording", "recording.")
  }

  private func mark(at frame: Int) {
    marks += 1
    saver.remote.ask(.mark("Marker \(marks)"), at: frame)
  }

  /// Tells that all was silence, where that is not told yet. Once it is over.
  func conclude() {
    let report = saver.report
    guard !isSilenceTold, report.frames > 0, report.peaks.allSatisfy({ $0 == 0 }) else { return }
    tellOfSilence()
  }

  /// Says why all is silence, as far as the mixer knows.
  private func tellOfSilence() {
    isSilenceTold = true
    SilenceSearch.notice(of: captureDevice ?? "", within: 300).report()
  }

  private func emit(_ event: RecordingEvent) {
    if case .onlySilence = event { tellOfSilence() }
    if case .resumed(let pause) = event { pausedFrames += pause.frames }
    words.tell(event)
  }
}

/// That a disk holds up an end: told once, by the first thread that finds it out.
enum DiskNotice {
  private static let isTold = Atomic(false)

  /// Tells it, unless it is told. Any thread.
  static func emit() {
    guard !isTold.exchange(true, ordering: .relaxed) else { return }
    warn(
      "diskWaiting", "The disk has not stored the rest of the recording yet.",
      hint: "Press Ctrl-C again to end without it; the file can be played as far as it was stored.")
  }
}

/// `--stop-after-silence`.
struct SilenceStopOption: ParsableArguments {
  @Option(
    help: .init(
      "Stop when the microphone has been silent for this long: no sample above -50 dBFS.",
      valueName: "time"))
  var stopAfterSilence: TimeOption?

  /// Follows a microphone at `rate`; nil where silence ends nothing.
  func follower(at rate: Int) -> SilenceStop? {
    stopAfterSilence.map { SilenceStop(seconds: $0.seconds(at: rate)) }
  }
}

/// Tells when a microphone has been silent for long enough to end a session.
final class SilenceStop {
  /// What is louder than this is no silence: above the noise of usual microphones, below a whisper.
  private static let thresholdDBFS = -50.0

  private let readingCount: Int
  private var silentReadings = 0

  /// Ends a session after `seconds` of silence, to the tenth of a second.
  init(seconds: Double) {
    readingCount = max(1, Int(clamping: (seconds * 10).rounded(.up)))
  }

  /// Follows the readings of a moment, each a tenth of a second. The reason to stop, where it is reached.
  func poll(_ moment: SessionMoment) -> StopReason? {
    for reading in moment.readings {
      let isSilent = reading.peakDBFS.allSatisfy { $0 <= Self.thresholdDBFS }
      silentReadings = isSilent ? silentReadings + 1 : 0
      if silentReadings >= readingCount { return .silence }
    }
    return nil
  }

  /// Silence counts from here on: nothing is recorded yet.
  func restart() { silentReadings = 0 }
}

/// Looks in the mixer of an input that delivers nothing but digital silence for the reason, on a thread
/// of its own: the mixer may be a sound server's, which may not answer.
enum SilenceSearch {
  /// What the mixer of `device` says, or what is known without, where it takes longer than `milliseconds`.
  /// A simulated device has no mixer.
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

  /// Where no reason is known.
  private static let unknown = Notice.warning(
    "onlySilence", "Only silence came in: is the microphone muted?",
    hint: "Look at its switch, its cable, and which channel it is on.")

  private static func notice(of control: MixerControl, _ device: String) -> Notice {
    if control.isOn == false {
      return .warning(
        "captureSwitchOff",
        "Only silence comes in: the capture switch of \(control.name) on \(device) is off.",
        hint: "Turn it on in alsamixer, with F4 and the space bar.")
    }
    return .warning(
      "captureVolumeZero",
      "Only silence comes in: the capture volume of \(control.name) on \(device) is at zero.",
      hint: "Raise it in alsamixer, or with --capture-volume 80%.")
  }
}
