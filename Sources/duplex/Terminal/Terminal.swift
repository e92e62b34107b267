import AudioFiles
import Glibc
import ProgramRuntime
import RealtimeAudio
import Synchronization

/// Standard output and standard error. A closed stream does not end the program.
///
/// All output to them is written here, as a `Line` or an `Event`. Neither passes on characters that
/// control a terminal.
enum Terminal {
  /// Prints a line of results on standard output immediately.
  static func printLine(_ line: Line) {
    results.write(wrapped(line.text, at: STDOUT_FILENO) + "\n")
  }

  /// Prints lines of text from outside, without characters that control a terminal.
  static func printLines(_ lines: some Sequence<String>) {
    for line in lines { printLine("\(line)") }
  }

  /// Prints an event on standard output immediately.
  static func emit(_ event: Event) {
    results.write(event.json.text + "\n")
  }

  /// Prints an event that is useless if it is late: it is dropped if the reader stalls.
  static func emitNow(_ event: Event) {
    if results.isFlowing { emit(event) }
  }

  private static let results = OutputStream(STDOUT_FILENO)
  private static let words = OutputStream(STDERR_FILENO)

  /// Ends all waiting of writes for a reader, so that audio is not interrupted. Pending output is
  /// written when the program ends.
  static func stopWaiting() {
    results.stopWaiting()
    words.stopWaiting()
    atexit { Terminal.drain() }
  }

  /// Waits for the readers of pending output: up to ten seconds without progress for results, one
  /// second for messages. After a further request to end, the user does not want to wait.
  static func drain() {
    results.drain(milliseconds: 10_000) { SignalWatch.isEndWaiting }
    words.drain(milliseconds: 1000) { SignalWatch.isEndWaiting }
  }

  /// Waits for the readers of pending output. Returns the reason for which results could not be
  /// printed; nil if all were, or if the reader closed the stream.
  static func finish() -> ToolFailure? {
    drain()
    guard let reason = results.failure else { return nil }
    return ToolFailure(
      .loss, code: "outputLost",
      "Standard output was not written completely: \(reason).",
      hint: "Files that were recorded or saved are complete.")
  }

  /// Whether the cursor is on a line that is redrawn.
  private static let isDrawing = Atomic(false)
  /// Sets whether the cursor is on such a line. Returns the previous value.
  private static func setDrawing(_ draws: Bool) -> Bool {
    let drew = isDrawing.exchange(draws, ordering: .relaxed)
    if drew != draws { ProgramSignals.eraseAtStop(isDrawn: draws) }
    return drew
  }

  /// The size of the terminal at the last drawing.
  private static let drawnColumns = Atomic(0)
  private static let drawnRows = Atomic(0)
  /// Whether drawn lines were scrolled out: a terminal that grows shows them again.
  private static let hasScrolledOut = Atomic(false)

  /// Prints a sentence on standard error, in place of the drawn lines.
  static func say(_ sentence: Line) {
    let wasDrawing = setDrawing(false)
    let erasing = wasDrawing && isInForeground(STDERR_FILENO) ? "\r\u{1B}[J" : ""
    words.write(erasing + wrapped(sentence.text, at: STDERR_FILENO) + "\n")
  }

  /// Returns `text` with line breaks between words if it is wider than the terminal of
  /// `descriptor`. The lines after a break are indented by two more columns than the first line.
  private static func wrapped(_ text: String, at descriptor: Int32) -> String {
    guard let columns = size(of: descriptor)?.columns, !text.contains("\n") else { return text }
    return text.wrapped(to: columns)
  }

  /// Replaces the lines drawn below the last sentence on standard error. `lines` must fit the size
  /// of the terminal. Nothing is drawn in the background, where the terminal belongs to other
  /// programs.
  static func redraw(_ lines: [Line]) {
    guard isLive, isInForeground(STDERR_FILENO), words.isFlowing else { return }
    let wasDrawing = setDrawing(!lines.isEmpty)
    let (columns, rows) = size
    let drawn = drawnColumns.exchange(columns, ordering: .relaxed)
    let isOtherSize = drawnRows.exchange(rows, ordering: .relaxed) != rows || columns != drawn
    if !wasDrawing { hasScrolledOut.store(false, ordering: .relaxed) }
    // A terminal that has become narrower may have wrapped the lines and moved the cursor. All
    // visible lines are scrolled out, and drawing begins at the top. Afterwards, each change of the
    // size may bring some of them back.
    let isScrolling =
      wasDrawing
      && (columns < drawn || (isOtherSize && hasScrolledOut.load(ordering: .relaxed)))
    if isScrolling { hasScrolledOut.store(true, ordering: .relaxed) }
    let clearing =
      isScrolling
      ? "\u{1B}[\(rows);1H" + String(repeating: "\r\n", count: rows) + "\u{1B}[H" : ""
    let text = lines.map(\.text).joined(separator: "\u{1B}[K\r\n")
    let back = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    // Without wrapping, the number of rows is the same even if the terminal has become narrower.
    words.write(clearing + "\u{1B}[?7l\r" + text + "\u{1B}[?7h\u{1B}[J" + back + "\r")
  }

  /// Replaces the drawn lines by one line.
  static func redraw(_ line: Line) { redraw([line]) }

  /// Removes the drawn lines.
  static func endDrawing() {
    if isDrawing.load(ordering: .relaxed) { redraw([]) }
  }

  /// Requests that the terminal marks pasted text (bracketed paste), or that it stops doing so.
  /// Nothing is requested with `--json` and `--quiet`, whose reader expects no control sequences.
  static func markPastes(_ marks: Bool) {
    guard isLive, !OutputMode.current.isTerse else { return }
    ProgramSignals.unmarkPastesAtStop(isMarked: marks)
    words.write(marks ? "\u{1B}[?2004h" : "\u{1B}[?2004l")
  }

  /// Whether standard error is a terminal.
  static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether standard output is a terminal.
  static var showsResults: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard error is a terminal whose lines can be redrawn.
  static var isLive: Bool {
    isWatched && environment("TERM").map { $0 != "dumb" } ?? false
  }

  /// Returns whether this program may use the terminal of `descriptor`; true if it has no job
  /// control.
  static func isInForeground(_ descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// Whether the character set of the locale is Unicode.
  static let hasUnicode = {
    let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? "C"
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }()

  /// Whether colours may be drawn (https://no-color.org).
  static let hasColour = environment("NO_COLOR") == nil

  /// Returns a variable of the environment; nil if it is missing or empty.
  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// The number of columns for results, at least 40; 80 if standard output is not a terminal.
  static var width: Int { max(40, size(of: STDOUT_FILENO)?.columns ?? 80) }

  /// The current size of the terminal of standard error; 80 x 24 if it is not a terminal.
  static var size: (columns: Int, rows: Int) { size(of: STDERR_FILENO) ?? (80, 24) }

  private static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether standard input is a terminal.
  static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether standard input is a pipe, through which keys may be sent.
  static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}
