import Glibc
import Synchronization

/// The two streams a person or a script reads. A closed one stops nothing.
///
/// All that is written to them passes here, as a `Line` or an `Event`: neither lets through what
/// acts on a terminal.
enum Terminal {
  /// A line of result on standard output, at once.
  static func printLine(_ line: Line) {
    results.write(line.text + "\n")
  }

  /// An event on standard output, at once.
  static func tell(_ event: Event) {
    results.write(event.json.text + "\n")
  }

  /// The same for an event that is old when it comes late: left out where the reader stands still.
  static func tellNow(_ event: Event) {
    if results.isFlowing { tell(event) }
  }

  private static let results = OutputStream(STDOUT_FILENO)
  private static let words = OutputStream(STDERR_FILENO)

  /// From now on nothing waits for a reader, as long as sound depends on it; what is due waits until
  /// the program ends.
  static func stopWaiting() {
    results.stopWaiting()
    words.stopWaiting()
    atexit { Terminal.drain() }
  }

  /// Gives readers ten seconds for what they have not read.
  static func drain() {
    results.drain(milliseconds: 10_000)
    words.drain(milliseconds: 1000)
  }

  /// Gives readers the time to read what was printed. What kept results from being printed; nil where
  /// all were, or where their reader has gone.
  static func finish() -> ToolFailure? {
    drain()
    guard let reason = results.failure else { return nil }
    return ToolFailure(
      .loss, code: "outputLost", "Standard output took not all that was to be printed: \(reason).",
      hint: "What was recorded or kept in files is there.")
  }

  /// Whether the cursor is on a line that is drawn again and again.
  private static let isDrawing = Atomic(false)

  /// A sentence on standard error, in the place of a line that is drawn.
  static func say(_ sentence: Line) {
    let erasing = isDrawing.exchange(false, ordering: .relaxed) ? "\r\u{1B}[K" : ""
    words.write(erasing + sentence.text + "\n")
  }

  /// Replaces the line the cursor is on, on standard error.
  static func redraw(_ line: Line) {
    guard words.isFlowing else { return }
    isDrawing.store(!line.text.isEmpty, ordering: .relaxed)
    words.write("\r" + line.text + "\u{1B}[K")
  }

  /// Whether a person looks at standard error.
  static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether a person types at standard input.
  static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether standard input is a pipe that somebody may write keys to.
  static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}
