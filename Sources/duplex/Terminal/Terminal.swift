import Glibc
import Synchronization

/// The two streams a person or a script reads. A closed one stops nothing.
enum Terminal {
  /// A line of result on standard output, at once.
  static func printLine(_ line: String) {
    results.write(line + "\n")
  }

  /// The same for a line that is old when it comes late: left out where the reader stands still.
  static func printNow(_ line: String) {
    if results.isFlowing { results.write(line + "\n") }
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

  /// Whether the cursor is on a line that is drawn again and again.
  private static let isDrawing = Atomic(false)

  /// A sentence on standard error, in the place of a line that is drawn.
  static func say(_ sentence: String) {
    let erasing = isDrawing.exchange(false, ordering: .relaxed) ? "\r\u{1B}[K" : ""
    words.write(erasing + sentence + "\n")
  }

  /// Replaces the line the cursor is on, on standard error.
  static func redraw(_ line: String) {
    guard words.isFlowing else { return }
    isDrawing.store(!line.isEmpty, ordering: .relaxed)
    words.write("\r" + line + "\u{1B}[K")
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
