/// Something a person is told that ends nothing: a sentence for people, who may have asked for
/// quiet, and an event for scripts.
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

/// Reports something that happens while a command runs: an event for scripts, else a sentence for
/// people who did not ask for quiet.
func tell(_ event: Event?, _ sentence: String?, quiet: Bool = false) {
  let mode = OutputMode.current
  if mode.json {
    event.map(Terminal.emit)
  } else if !mode.quiet, !quiet {
    sentence.map { Terminal.say("duplex: \($0)") }
  }
}
