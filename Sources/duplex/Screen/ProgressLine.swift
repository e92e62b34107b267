import AudioBasics

/// Reports the progress of a task as `progress` events or on the terminal, where the remaining time
/// is shown as well. Nothing is drawn in the first second.
final class ProgressLine {
  private let title: String
  private let what: String
  private let fields: Fields
  private let step: Double
  private let silentSeconds: Double
  private let hint: String
  private let began = SteadyTime()
  private var isDrawn = false
  private var reported = 0.0

  /// Creates the progress of a task that the screen calls `title`, and events describe by `what`
  /// and `fields`. It is reported after each further fraction `step`, and not in the first
  /// `silentSeconds`. `hint` is shown below it.
  init(
    _ title: String, _ what: String, _ fields: Fields = [:], step: Double = 0,
    silentSeconds: Double = 0, hint: String = ""
  ) {
    self.title = title
    self.what = what
    self.fields = fields
    self.step = step
    self.silentSeconds = silentSeconds
    self.hint = hint
  }

  /// Reports that the fraction `done` of the task is completed. For events the task is the fraction
  /// `share` of a whole, of which the fraction `start` was completed before.
  func reportProgress(
    _ done: Double, from start: Double = 0, share: Double = 1, _ more: Fields = [:]
  ) {
    guard done >= reported + step, began.seconds >= silentSeconds else { return }
    reported = done
    if OutputMode.current.json {
      Terminal.emit(.progress(start + done * share, what, fields + more))
    } else if Terminal.isLive, !OutputMode.current.quiet {
      draw(done)
    }
  }

  private func draw(_ done: Double) {
    guard let text = Self.text(done: done, seconds: began.seconds) else { return }
    isDrawn = true
    var state = LiveState()
    state.title = title
    state.clock = text
    state.fraction = min(1, done)
    if !hint.isEmpty { state.keys = [hint] }
    let screen = LiveScreen.current
    let lines = screen.lines(state)
    // A single line does not include the title.
    Terminal.redraw(
      lines.count > 1
        ? lines.map { $0.drawn(hasColour: false) }
        : ["\(screen.fitting("\(title): \(text)"))"])
  }

  /// Returns the completed part and the remaining time, `seconds` after the start; nil if the time
  /// cannot be estimated yet.
  static func text(done: Double, seconds: Double) -> String? {
    guard seconds > 1, done > 0 else { return nil }
    let done = min(1, done)
    let left = ClockTime(seconds * (1 - done) / done).text
    return "\(Int(rounding: done * 100)) %, \(left) left"
  }

  /// Returns the text and the fraction for the panel of a session when the fraction `done` is
  /// completed.
  func progress(_ done: Double, of what: String) -> (text: String, fraction: Double) {
    let left = Self.text(done: done, seconds: began.seconds).map { ", " + $0 } ?? ""
    return (what + left, done)
  }

  /// Removes the drawn progress from the screen.
  func end() {
    guard isDrawn else { return }
    isDrawn = false
    Terminal.endDrawing()
  }
}
