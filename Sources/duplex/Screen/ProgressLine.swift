import AudioBasics

/// Tells how much of a task is done: as `progress` events, else on the terminal, where it says how
/// long the rest will take as well. Nothing is drawn in the first second.
final class ProgressLine {
  private let title: String
  private let what: String
  private let fields: Fields
  private let step: Double
  private let silentSeconds: Double
  private let hint: String
  private let began = SteadyTime()
  private var isDrawn = false
  private var told = 0.0

  /// For the task that a person knows by `title`, and events by `what` and `fields`. It is told of
  /// again once `step` more of it is done, of 1, and not in the first `silentSeconds`. `hint`
  /// stands below.
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

  /// That much of the task is done, of 1. In events the task is `share` of a whole of which `start`
  /// was done before.
  func tell(_ done: Double, from start: Double = 0, share: Double = 1, _ more: Fields = [:]) {
    guard done >= told + step, began.seconds >= silentSeconds else { return }
    told = done
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
    // One line has no title of its own.
    Terminal.redraw(
      lines.count > 1
        ? lines.map { $0.drawn(hasColour: false) }
        : ["\(screen.fitting("\(title): \(text)"))"])
  }

  /// How much is done and left, `seconds` after the beginning; nil where there is nothing to say
  /// yet.
  static func text(done: Double, seconds: Double) -> String? {
    guard seconds > 1, done > 0 else { return nil }
    let done = min(1, done)
    let left = ClockTime(seconds * (1 - done) / done).text
    return "\(Int(rounding: done * 100)) %, \(left) left"
  }

  /// What a session's panel says of the task, of which `done` is done.
  func progress(_ done: Double, of what: String) -> (text: String, fraction: Double) {
    let left = Self.text(done: done, seconds: began.seconds).map { ", " + $0 } ?? ""
    return (what + left, done)
  }

  /// Removes what was drawn.
  func end() {
    guard isDrawn else { return }
    isDrawn = false
    Terminal.endDrawing()
  }
}
