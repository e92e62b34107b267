import AudioFiles

/// A line on the terminal that says how much of a task is done, and how long the rest will take. Nothing is
/// drawn in the first second.
struct ProgressLine {
  private let began = SteadyTime()
  private var drawn = ""

  /// So much of what `title` names is done, of 1.
  mutating func draw(_ title: String, done: Double) {
    guard Terminal.isLive, !OutputMode.current.json, !OutputMode.current.quiet else { return }
    let text = Self.text(title, done: done, seconds: began.seconds)
    guard let text, text != drawn else { return }
    drawn = text
    let size = Terminal.size
    let screen = LiveScreen(
      columns: size.columns, rows: size.rows, hasUnicode: Terminal.hasUnicode)
    Terminal.redraw("\(screen.fitting(text))")
  }

  /// The line, `seconds` after the beginning; nil where there is nothing to say yet.
  static func text(_ title: String, done: Double, seconds: Double) -> String? {
    guard seconds > 1, done > 0 else { return nil }
    let done = min(1, done)
    let left = ClockTime(seconds * (1 - done) / done).text
    return "\(title): \(Int(rounding: done * 100)) %, \(left) left"
  }

  /// The line goes.
  mutating func end() {
    guard !drawn.isEmpty else { return }
    drawn = ""
    Terminal.endDrawing()
  }
}
