import AudioBasics
import AudioFiles
import Glibc
import RealtimeAudio
import Synchronization

/// The two streams a person or a script reads. A closed one stops nothing.
///
/// All that is written to them passes here, as a `Line` or an `Event`: neither lets through what
/// acts on a terminal.
enum Terminal {
  /// A line of result on standard output, at once.
  static func printLine(_ line: Line) {
    results.write(wrapped(line.text, at: STDOUT_FILENO) + "\n")
  }

  /// Lines with nothing but what comes from outside in them.
  static func printLines(_ lines: some Sequence<String>) {
    for line in lines { printLine("\(line)") }
  }

  /// An event on standard output, at once.
  static func emit(_ event: Event) {
    results.write(event.json.text + "\n")
  }

  /// The same for an event that is old when it comes late: left out where the reader stands still.
  static func tellNow(_ event: Event) {
    if results.isFlowing { emit(event) }
  }

  private static let results = OutputStream(STDOUT_FILENO)
  private static let words = OutputStream(STDERR_FILENO)

  /// From now on nothing waits for a reader, as long as sound depends on it; what is due waits
  /// until the program ends.
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

  /// Gives readers the time to read what was printed. What kept results from being printed; nil
  /// where all were, or where their reader has gone.
  static func finish() -> ToolFailure? {
    drain()
    guard let reason = results.failure else { return nil }
    return ToolFailure(
      .loss, code: "outputLost",
      "Standard output was not written completely: \(reason).",
      hint: "Files that were recorded or saved are complete.")
  }

  /// Whether the cursor is on a line that is drawn again and again.
  private static let isDrawing = Atomic(false)
  /// Returns whether the cursor was on such a line.
  private static func setDrawing(_ draws: Bool) -> Bool {
    let drew = isDrawing.exchange(draws, ordering: .relaxed)
    if drew != draws { ProgramSignals.eraseAtStop(isDrawn: draws) }
    return drew
  }

  /// How wide the terminal was when something was last drawn.
  private static let drawnColumns = Atomic(0)

  /// A sentence on standard error, in the place of a line that is drawn.
  static func say(_ sentence: Line) {
    let wasDrawing = setDrawing(false)
    let erasing = wasDrawing && isInForeground(STDERR_FILENO) ? "\r\u{1B}[J" : ""
    words.write(erasing + wrapped(sentence.text, at: STDERR_FILENO) + "\n")
  }

  /// `text` with line breaks between words, where it is wider than the terminal behind
  /// `descriptor`. What follows a break is indented by two columns more than the line.
  private static func wrapped(_ text: String, at descriptor: Int32) -> String {
    guard let columns = size(of: descriptor)?.columns, !text.contains("\n") else { return text }
    return text.wrapped(to: columns)
  }

  /// Replaces what was drawn below the last sentence, on standard error. The caller keeps to the
  /// terminal's size. Nothing is drawn from the background, where the terminal belongs to others.
  static func redraw(_ lines: [Line]) {
    guard isLive, isInForeground(STDERR_FILENO), words.isFlowing else { return }
    let wasDrawing = setDrawing(!lines.isEmpty)
    let (columns, rows) = size
    let drawn = drawnColumns.exchange(columns, ordering: .relaxed)
    // A terminal that has become narrower may have wrapped the lines, and moved the cursor with
    // them: all that is seen is scrolled away, and drawing begins at the top.
    let clearing =
      wasDrawing && columns < drawn
      ? "\u{1B}[\(rows);1H" + String(repeating: "\r\n", count: rows) + "\u{1B}[H" : ""
    let text = lines.map(\.text).joined(separator: "\u{1B}[K\r\n")
    let back = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    // Without wrapping it is as many rows even where the terminal has shrunk since it was asked.
    words.write(clearing + "\u{1B}[?7l\r" + text + "\u{1B}[?7h\u{1B}[J" + back + "\r")
  }

  /// Replaces what was drawn by one line.
  static func redraw(_ line: Line) { redraw([line]) }

  /// Removes what was drawn.
  static func endDrawing() {
    if isDrawing.load(ordering: .relaxed) { redraw([]) }
  }

  /// Whether a person looks at standard error.
  static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether a person looks at standard output.
  static var showsResults: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard error is a terminal whose lines can be drawn again.
  static var isLive: Bool {
    isWatched && environment("TERM").map { $0 != "dumb" } ?? false
  }

  /// Whether the terminal behind `descriptor` is this program's to use now; true of one that has no
  /// jobs.
  static func isInForeground(_ descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// Whether the locale's characters are those of Unicode.
  static let hasUnicode = {
    let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? "C"
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }()

  /// Whether what is drawn may be in colour (https://no-color.org).
  static let hasColour = environment("NO_COLOR") == nil

  /// A variable of the environment; nil where it is empty too.
  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// Columns of the terminal that results are shown on; 80 where it is none.
  static var width: Int { max(40, size(of: STDOUT_FILENO)?.columns ?? 80) }

  /// The size of the terminal that is drawn on, as it is now.
  static var size: (columns: Int, rows: Int) { size(of: STDERR_FILENO) ?? (80, 24) }

  private static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether a person types at standard input.
  static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether standard input is a pipe that keys may be written to.
  static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}

/// A stream that is read, or is read no more: Ctrl-S at a terminal, a pipe that is full.
///
/// A closed stream stops nothing, and once `stopWaiting` was called neither does a full one: what
/// it does not take waits here.
final class OutputStream: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var waits = true
    var isClosed = false
    /// A non-blocking description of the same terminal; nil where the stream's own descriptor is
    /// written to.
    var ownDescriptor: Int32?
    /// Whether the reader took nothing for as long as it is waited for.
    var isGivenUp = false
    /// Why it took no more, where that is not by its reader's choice.
    var failure: String?
  }

  private let descriptor: Int32
  private let state = MutexBox(State())
  /// Bytes that are kept for a reader that takes nothing: hours of events.
  private static let longestBacklog = 4 << 20

  /// The stream behind `descriptor`.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Whether everything so far was taken.
  var isFlowing: Bool {
    state.withLock { state in
      flush(&state, milliseconds: 0)
      return state.waiting.isEmpty
    }
  }

  /// Writes `text`, or keeps it until there is room; too much for one that is not waited for is
  /// dropped, which `failure` tells.
  func write(_ text: String) {
    state.withLock { state in
      guard !state.isClosed else { return }
      let bytes = FileName.shown(text).utf8
      if !state.waits, state.waiting.count + bytes.count > Self.longestBacklog {
        state.failure = "its reader does not read"
        return
      }
      state.waiting += Array(bytes)
      flush(&state, milliseconds: state.waits ? -1 : 0)
    }
  }

  /// This stream is not waited for any more.
  ///
  /// A terminal says that it has room for more also where a piece would have to wait (`poll` in the
  /// kernel's `drivers/tty/n_tty.c`), so that a description of its own is opened, with which no
  /// write waits: other programs share the one that was handed down. Where it may not be opened, as
  /// a terminal of another user, writes can still wait.
  func stopWaiting() {
    state.withLock { state in
      guard state.waits else { return }
      state.waits = false
      guard isatty(descriptor) == 1 else { return }
      let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      let own = unsafe open("/proc/self/fd/\(descriptor)", flags)
      if own >= 0 { state.ownDescriptor = own }
    }
  }

  /// Waits for as long as something is taken now and then; a reader that took nothing for so long
  /// is not waited for again.
  func drain(milliseconds: Int32) {
    state.withLock { state in
      flush(&state, milliseconds: state.isGivenUp ? 0 : milliseconds)
      state.isGivenUp = !state.waiting.isEmpty
    }
  }

  /// Why not all was taken; nil where all was, or where the reader has gone and wants no more.
  var failure: String? {
    state.withLock { state in
      state.failure ?? (state.waiting.isEmpty ? nil : "its reader does not read")
    }
  }

  /// Writes what there is room for, waiting so long for each piece; -1 is for ever.
  private func flush(_ state: inout State, milliseconds: Int32) {
    let descriptor = state.ownDescriptor ?? self.descriptor
    var timeout = milliseconds
    while !state.waiting.isEmpty {
      var set = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let answer = unsafe poll(&set, 1, timeout)
      if answer < 0, errno == EINTR { continue }
      guard answer > 0 else { return }
      // A pipe that is ready has room for a page.
      let piece = state.waiting.prefix(4096)
      let count = unsafe piece.withUnsafeBytes { memory in
        unsafe Glibc.write(descriptor, memory.baseAddress, memory.count)
      }
      if count > 0 {
        state.waiting.removeFirst(count)
        timeout = milliseconds
      } else if errno == EAGAIN {
        // A terminal may have room, but not for a line break, which takes two of its places.
        guard timeout != 0 else { return }
        usleep(10_000)
        if timeout > 0 { timeout = max(0, timeout - 10) }
      } else if errno != EINTR {
        let number = errno
        if number != EPIPE {
          state.failure = unsafe String(cString: strerror(number))
        }
        state.isClosed = true
        state.waiting = []
      }
    }
  }
}

/// A line of text for a person: what stands in the sources as it is, and what comes from outside
/// cleaned of all that could act on a terminal or pass for another line.
///
/// Every text on its way to a terminal is one: write it as a literal, and put what comes from
/// outside in by interpolation. Only a literal can hold an escape sequence.
struct Line: ExpressibleByStringInterpolation, Sendable {
  /// A part of the sources, which cannot be made while the program runs.
  typealias StringLiteralType = StaticString

  private(set) var text: String

  init(stringLiteral literal: StaticString) { text = literal.description }

  init(stringInterpolation parts: StringInterpolation) { text = parts.text }

  /// A text of several lines that has nothing from outside in it: the argument parser's help.
  init(trusting text: String) { self.text = text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

    mutating func appendInterpolation(_ line: Line) { text += line.text }

    mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      text += value.description.printable
    }
  }

  static func + (first: Line, second: Line) -> Line {
    var line = first
    line.text += second.text
    return line
  }
}
