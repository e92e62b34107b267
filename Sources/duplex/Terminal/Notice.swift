import AudioDevices
import AudioFiles

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

  /// News in one sentence.
  static func news(_ code: String, _ message: String) -> Notice {
    Notice(weight: .notice, code: code, message: message, hint: "")
  }

  /// A failure that something else made up for.
  static func warning(_ failure: ToolFailure) -> Notice {
    .warning(failure.code, failure.message, hint: failure.hint)
  }

  /// Tells it.
  func report() {
    let mode = OutputMode.current
    if mode.json { Terminal.tell(event) }
    if !mode.quiet { Terminal.say("duplex: \(message)\(hint.isEmpty ? "" : " " + hint)") }
  }

  /// The event.
  var event: Event {
    Event(
      weight.rawValue,
      [("code", .string(code)), ("message", .string(message)), ("hint", .string(hint))])
  }
}
