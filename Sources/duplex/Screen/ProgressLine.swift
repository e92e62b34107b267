import AudioBasics

/// Tells how much of a task is done: as `progress` events, else in a line on the terminal that says how long
/// the rest will take as well. Nothing is drawn in the first second.
final class ProgressLine {
  private let title: String
  private let what: String
  private let fields: Fields
  private let step: Double
  private let silentSeconds: Double
  private let began = SteadyTime()
  private var drawn = ""
  private var told = 0.0

  /// For the task that a person knows by `title`, and events by `what` and `fields`. It is told of again
  /// once `step` more of it is done, of 1, and not in the first `silentSeconds`.
  init(
    _ title: String, _ what: String, _ fields: Fields = [:], step: Double = 0,
    silentSeconds: Double = 0
  ) {
    self.title = title
    self.what = what
    self.fields = fields
    self.step = step
    self.silentSeconds = silentSeconds
  }

  /// That much of the task is done, of 1. In events the task is `share` of a whole of which `start` was done
  /// before.
  func tell(_ done: Double, from start: Double = 0, share: Double = 1, _ more: Fields = [:]) {
    guard done >= told + step, began.seconds >= silentSeconds else { return }
    told = done
    if OutputMode.current.json {
      Terminal.emit(.progress(start + done * share, what, fields + more))
    } else if Terminal.isLive, !OutputMode.current.quiet {
      let text = Self.text(title, done: done, seconds: began.seconds)
      guard let text, text != drawn else { return }
      drawn = text
      Terminal.redraw("\(LiveScreen.current.fitting(text))")
    }
  }

  /// The line, `seconds` after the beginning; nil where there is nothing to say yet.
  static func text(_ title: String, done: Double, seconds: Double) -> String? {
    guard seconds > 1, done > 0 else { return nil }
    let done = min(1, done)
    let left = ClockTime(seconds * (1 - done) / done).text
    return "\(title): \(Int(rounding: done * 100)) %, \(left) left"
  }

  /// The line goes.
  func end() {
    guard !drawn.isEmpty else { return }
    drawn = ""
    Terminal.endDrawing()
  }
}
