import AudioDevices
import AudioFiles
import RealtimeAudio
import VoiceCleaning

/// Something a person is told that ends nothing: a sentence for people, who may have asked for quiet,
/// and an event for scripts.
struct Notice {
  enum Weight: String {
    /// It is as it should be.
    case notice
    /// It is not quite as it was asked for.
    case warning
  }

  let weight: Weight
  let code: String
  let message: String
  let hint: String

  /// A warning with its two sentences; no hint where there is nothing to do.
  static func warning(_ code: String, _ message: String, hint: String = "") -> Notice {
    Notice(weight: .warning, code: code, message: message, hint: hint)
  }

  /// A failure that something else made up for.
  static func warning(_ failure: ToolFailure) -> Notice {
    .warning(failure.code, failure.message, hint: failure.hint)
  }

  /// Tells it.
  func report() {
    let mode = OutputMode.current
    if mode.json { Terminal.emit(event) }
    if !mode.quiet { Terminal.say("duplex: \(message)\(hint.isEmpty ? "" : " " + hint)") }
  }

  /// The event.
  var event: Event {
    Event(
      weight.rawValue, ["code": code, "message": message, "hint": hint])
  }
}

/// Tells a person, and scripts, what is not quite as it was asked for, and what to do.
func warn(_ code: String, _ message: String, hint: String = "") {
  Notice.warning(code, message, hint: hint).report()
}

/// Tells a person, and scripts, news in one sentence.
func inform(_ code: String, _ message: String) {
  Notice(weight: .notice, code: code, message: message, hint: "").report()
}

/// What happens while a command runs: an event for scripts, else a sentence for people who did not ask for
/// quiet.
func tell(_ event: Event?, _ sentence: String?, quiet: Bool = false) {
  let mode = OutputMode.current
  if mode.json {
    event.map(Terminal.emit)
  } else if !mode.quiet, !quiet {
    sentence.map { Terminal.say("duplex: \($0)") }
  }
}

/// How the command that runs talks: chosen once, when its words are parsed.
struct OutputMode: Sendable {
  /// Events on standard output.
  var json = false
  /// Nothing but errors on standard error.
  var quiet = false
  /// Whether no person watches how it goes.
  var isTerse: Bool { json || quiet }
  /// How the program ends where it is stopped before it has anything to show.
  var stoppedStatus = ExitStatus.done

  private static let chosen = MutexBox(OutputMode())

  /// That of the command that runs.
  static var current: OutputMode {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}

/// How the tool ends, by the numbers of sysexits.h.
enum ExitStatus: Int32 {
  case done = 0
  case loss = 1
  case usage = 64
  case unusableInput = 65
  case noInput = 66
  case unavailable = 69
  case cannotCreate = 73
  case noPermission = 77
}

/// What went wrong, as the user is told: a sentence, what to do, and the exit status.
struct ToolFailure: Error {
  let status: ExitStatus
  let code: String
  let message: String
  let hint: String
  /// The file it is about, where there is one.
  private(set) var path: String?

  init(_ status: ExitStatus, code: String, _ message: String, hint: String) {
    self.status = status
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// The same with a further hint.
  func adding(hint: String) -> ToolFailure {
    var failure = ToolFailure(status, code: code, message, hint: "\(self.hint) \(hint)")
    failure.path = path
    return failure
  }

  /// The words of the user make no sense.
  static func usage(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.usage, code: "usage", message, hint: hint)
  }

  /// What a file holds cannot be used.
  static func unusable(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.unusableInput, code: "inputUnusable", message, hint: hint)
  }

  /// A file of that name is there, and was not to be replaced.
  static func exists(_ path: String) -> ToolFailure {
    ToolFailure(
      .cannotCreate, code: "outputRefused", "\(path) exists already.",
      hint: "Choose another name, or replace the file with --overwrite.")
  }

  /// Nothing was measured.
  static func noSignal(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.loss, code: "noSignal", message, hint: hint)
  }

  /// The user ended a command before it had anything to show; `what` completes "before anything was".
  static func stopped(before what: String) -> ToolFailure {
    ToolFailure(
      .loss, code: "stopped", "Stopped before anything was \(what).",
      hint: "Start the command again, and let it finish.")
  }

  init(_ failure: DeviceFailure) {
    let (status, code): (ExitStatus, String) =
      switch failure.kind {
      case .notFound: (.unavailable, "deviceNotFound")
      case .busy: (.unavailable, "deviceBusy")
      case .refused: (.unavailable, "deviceRefused")
      case .permissionDenied: (.noPermission, "permissionDenied")
      case .lost: (.loss, "deviceLost")
      case .invalidRequest: (.usage, "usage")
      }
    self.init(status, code: code, failure.message, hint: failure.optionHint)
  }

  init(_ failure: FileFailure) {
    let (status, code): (ExitStatus, String) =
      switch failure.kind {
      case .cannotOpen: (.noInput, "inputNotFound")
      case .unusableContents, .unknownContents: (.unusableInput, "inputUnusable")
      case .cannotCreate: (.cannotCreate, "outputRefused")
      case .permissionDenied: (.noPermission, "permissionDenied")
      case .invalidRequest: (.usage, "usage")
      case .diskFull: (.loss, "diskFull")
      case .readFailed: (.loss, "readFailed")
      case .writeFailed: (.loss, "writeFailed")
      case .interrupted: (.loss, "interrupted")
      case .closedPipe: (.loss, "closedPipe")
      }
    self.init(status, code: code, failure.message, hint: failure.optionHint)
  }

  /// The same, of the file `path` where it does not name one.
  func of(_ path: String) -> ToolFailure {
    var failure = self
    failure.path = failure.path ?? FileName.withoutUser(path)
    return failure
  }

  /// The command was stopped before it wrote anything; `moment` says when.
  static func stopped(_ status: ExitStatus, _ moment: String) -> ToolFailure {
    ToolFailure(
      status, code: "stopped", "The command was stopped \(moment).",
      hint: "No file was changed; start the command again.")
  }

  /// Tells it on standard error, and as an event where the user asked for those.
  func report() {
    Terminal.say("duplex: \(message) \(hint)")
    if OutputMode.current.json { Terminal.emit(event) }
  }

  /// The event.
  var event: Event {
    Event(
      "error",
      ["code": code, "message": message, "hint": hint]
        + (path.map { ["path": $0] } ?? [:]))
  }
}

/// Runs `body` and says its failures in the tool's terms.
func inTermsOfTheTool<Result>(_ body: () throws -> Result) throws(ToolFailure) -> Result {
  do {
    return try body()
  } catch let failure as DeviceFailure {
    throw ToolFailure(failure)
  } catch let failure as FileFailure {
    throw ToolFailure(failure)
  } catch let failure as CleaningFailure {
    throw ToolFailure(.usage, code: "usage", failure.message, hint: failure.hint)
  } catch let failure as ToolFailure {
    throw failure
  } catch {
    throw ToolFailure(.loss, code: "unknown", "\(error)", hint: "Please report this.")
  }
}
