import AudioDevices
import AudioFiles
import VoiceCleaning

/// The exit status of the tool, with the numbers of sysexits.h.
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

/// An error for the user: a sentence, the remedy, and the exit status.
struct ToolFailure: Error {
  let status: ExitStatus
  let code: String
  let message: String
  private(set) var hint: String
  /// The file that the error is about; nil if there is none.
  private(set) var path: String?
  /// The failure of the library that this one reports; nil if it is the tool's own.
  private(set) var cause: Cause?

  /// The kind of a failure of the library.
  enum Cause: Equatable {
    case device(DeviceFailure.Kind)
    case file(FileFailure.Kind)
  }

  init(_ status: ExitStatus, code: String, _ message: String, hint: String) {
    self.status = status
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// Returns the same failure with a further hint.
  func adding(hint: String) -> ToolFailure {
    var failure = self
    failure.hint = "\(self.hint) \(hint)"
    return failure
  }

  /// Returns the failure for invalid words of the user.
  static func usage(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.usage, code: "usage", message, hint: hint)
  }

  /// Returns the failure for a file whose contents cannot be used.
  static func unusable(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.unusableInput, code: "inputUnusable", message, hint: hint)
  }

  /// Returns the failure for a measurement without a result.
  static func noSignal(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.loss, code: "noSignal", message, hint: hint)
  }

  /// Returns the failure for a measurement whose frames were lost, because the period is too short.
  static func lostSignal(_ message: String) -> ToolFailure {
    noSignal(
      message, hint: "Ask for a larger --period-size, or find a stable one with `duplex tune`.")
  }

  /// Returns the failure for a measurement that is not reliable enough for its purpose.
  static func doubtful(_ message: String, hint: String) -> ToolFailure {
    ToolFailure(.loss, code: "doubtful", message, hint: hint)
  }

  /// Returns the failure for a command that the user ended before it had a result; `what` completes
  /// "before anything was".
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
    cause = .device(failure.kind)
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
    cause = .file(failure.kind)
  }

  /// Returns the same failure for the file `path`, unless it already names a file.
  func of(_ path: String) -> ToolFailure {
    var failure = self
    failure.path = failure.path ?? FileName.withoutUser(path)
    return failure
  }

  /// Returns the failure for a command that was stopped before it wrote anything; `moment`
  /// describes the time.
  static func stopped(_ status: ExitStatus, _ moment: String) -> ToolFailure {
    ToolFailure(
      status, code: "stopped", "The command was stopped \(moment).",
      hint: "No file was changed; start the command again.")
  }

  /// Prints the error on standard error, and emits it as an event in JSON mode. If a warning has
  /// told the same, its sentence is not repeated.
  func report(wasWarning: Bool = false) {
    let mode = OutputMode.current
    if !wasWarning || mode.json || mode.quiet { Terminal.say("duplex: \(message) \(hint)") }
    if mode.json { Terminal.emit(event) }
  }

  /// The event for scripts.
  var event: Event {
    Event(
      "error",
      ["code": code, "message": message, "hint": hint]
        + (path.map { ["path": $0] } ?? [:]))
  }
}

/// Runs `body` and converts its errors to `ToolFailure`.
func mappingErrors<Result>(_ body: () throws -> Result) throws(ToolFailure) -> Result {
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
