import Glibc
import Synchronization

/// The two streams a person or a script reads. A closed one stops nothing.
enum Terminal {
  /// A line of result on standard output, at once.
  static func printLine(_ line: String) {
    write(line + "\n", to: STDOUT_FILENO)
  }

  /// Whether the cursor is on a line that is drawn again and again.
  private static let isDrawing = Atomic(false)

  /// A sentence on standard error, in the place of a line that is drawn.
  static func say(_ sentence: String) {
    let erasing = isDrawing.exchange(false, ordering: .relaxed) ? "\r\u{1B}[K" : ""
    write(erasing + sentence + "\n", to: STDERR_FILENO)
  }

  /// Replaces the line the cursor is on, on standard error.
  static func redraw(_ line: String) {
    isDrawing.store(!line.isEmpty, ordering: .relaxed)
    write("\r" + line + "\u{1B}[K", to: STDERR_FILENO)
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

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { memory in
        unsafe Glibc.write(descriptor, memory.baseAddress, memory.count)
      }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}
