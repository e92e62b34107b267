/// A message that does not end the program: a sentence for people, unless they requested quiet
/// output, and an event for scripts.
struct Notice {
  enum Severity: String {
    /// The state is as intended.
    case notice
    /// The state differs from the user's request.
    case warning
  }

  let severity: Severity
  let code: String
  let message: String
  let hint: String

  /// Returns a warning with its two sentences; `hint` is empty if no action is needed.
  static func warning(_ code: String, _ message: String, hint: String = "") -> Notice {
    Notice(severity: .warning, code: code, message: message, hint: hint)
  }

  /// Returns the warning about a failure that did not prevent the operation.
  static func warning(_ failure: ToolFailure) -> Notice {
    .warning(failure.code, failure.message, hint: failure.hint)
  }

  /// Prints the sentence, or emits the event.
  func report() {
    let mode = OutputMode.current
    if mode.json { Terminal.emit(event) }
    if !mode.quiet { Terminal.say("duplex: \(message)\(hint.isEmpty ? "" : " " + hint)") }
  }

  /// The event for scripts.
  var event: Event {
    Event(
      severity.rawValue, ["code": code, "message": message, "hint": hint])
  }
}

/// Reports to people and scripts a difference from the user's request, with the remedy.
func warn(_ code: String, _ message: String, hint: String = "") {
  Notice.warning(code, message, hint: hint).report()
}

/// Reports to people and scripts an information in one sentence.
func inform(_ code: String, _ message: String) {
  Notice(severity: .notice, code: code, message: message, hint: "").report()
}

/// Reports something that happens while a command runs: as an event for scripts, else as a sentence
/// unless quiet output was requested.
func reportEvent(_ event: Event?, _ sentence: String?, quiet: Bool = false) {
  let mode = OutputMode.current
  if mode.json {
    event.map(Terminal.emit)
  } else if !mode.quiet, !quiet {
    sentence.map { Terminal.say("duplex: \($0)") }
  }
}
