import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import Synchronization

/// A recording's part in watching a session: tells what happens on its way to disk, and passes on
/// what the user wants of it.
final class RecordingWatch: SessionKeys {
  private let saver: RecordingWriter
  private let path: String
  private let words: RecordingWords
  private var marks = 0
  private var isWaitTold = false
  /// When the user first wanted to leave, on the host's clock.
  private var endAsked: UInt64?
  private var hasStarted: Bool
  /// What is heard.
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
      inform("ready", "ready; space or Enter starts, SIGUSR1 as well.")
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
        "all is saved; waiting for the --on-file commands. Ctrl-C leaves them.")
    }
    tellOfDisk()
    if saver.isFailed { return .disk }
    return saver.isTakeOver ? .duration : nil
  }

  let hints = ["m marker", "s split"]

  func press(_ key: Key, at frame: Int) -> Bool {
    switch key {
    case .character(" ") where !hasStarted, .character("\n") where !hasStarted,
      .character("\r") where !hasStarted:
      start(at: frame)
    case .character("m"): mark(at: frame)
    case .character("s"): saver.remote.ask(.split, at: frame)
    default: return false
    }
    return true
  }

  /// The user pauses, or goes on.
  func pause(_ pauses: Bool, at frame: Int) {
    saver.remote.ask(pauses ? .pause : .resume, at: frame)
  }

  /// A signal came at `frame`.
  func handle(_ signal: UserSignal, at frame: Int) {
    switch signal {
    case .split where !hasStarted: start(at: frame)
    case .split: saver.remote.ask(.split, at: frame)
    case .mark: mark(at: frame)
    case .end: break
    }
  }

  /// The user wants to leave: true where that was waiting for commands.
  func leave() -> Bool {
    endAsked = endAsked ?? HostClock.nanoseconds
    guard saver.isWaitingForCommands else { return false }
    saver.leaveCommands()
    return true
  }

  /// An end that the disk holds up was heard all the same.
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

  /// Tells that nothing was heard in all the time, where that is not told yet. Once it is over.
  func conclude() {
    let report = saver.report
    guard !isSilenceTold, report.frames > 0, report.peaks.allSatisfy({ $0 == 0 }) else { return }
    tellOfSilence()
  }

  /// Says why nothing is heard, as far as the mixer knows.
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
      "diskWaiting", "The disk has not taken the rest of the recording yet.",
      hint: "Ctrl-C once more leaves it; the file holds what its header tells of.")
  }
}
