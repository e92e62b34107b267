import AudioDevices
import AudioFiles
import VoiceCleaning

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
    self.init(status, code: code, failure.message, hint: failure.hint)
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
    self.init(status, code: code, failure.message, hint: failure.hint)
  }

  /// The same, of the file `path` where it does not name one.
  func of(_ path: String) -> ToolFailure {
    var failure = self
    failure.path = failure.path ?? path
    return failure
  }

  /// Tells it on standard error, and as an event where the user asked for those.
  func report() {
    Terminal.say("duplex: \(message) \(hint)")
    if OutputMode.current.json { Terminal.tell(event) }
  }

  /// The event.
  var event: Event {
    Event(
      "error",
      [("code", .string(code)), ("message", .string(message)), ("hint", .string(hint))]
        + (path.map { [("path", .string($0))] } ?? []))
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
