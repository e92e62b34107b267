import CLinuxFiles
import Glibc
import LinuxSystem

/// A shell command that runs for a file, in parallel to everything else. One thread at a time. If
/// the value is destroyed before the command has ended, the command continues.
///
/// The command receives the path of the file in `$1` and in `DUPLEX_FILE`; if it contains no `$`,
/// the path is appended to it. It receives no keyboard input. Its output goes to standard error, or
/// is kept for `takeLines`.
package struct FileCommand: ~Copyable {
  private let process: pid_t
  private let command: String
  private let path: String
  private var hasEnded = false
  /// The output of the command, if it is kept: in memory, so that the command neither waits for a
  /// reader nor ends for lack of one.
  private let output: FileDescriptor?
  private var readByteCount = 0
  /// The line that has no end yet.
  private var rest: [UInt8] = []

  /// The most bytes of a line that are returned, and the most bytes and lines of output that are
  /// returned at once.
  private static let maximumLineLength = 1000
  private static let maximumPieceLength = 1 << 16
  private static let maximumLines = 100

  /// Starts `command` for `path`. Throws `.writeFailed` if no process can be created.
  package init(_ command: String, for path: String, keepsOutput: Bool) throws(FileFailure) {
    let script = command.contains("$") ? command : command + " \"$@\""
    let memory = keepsOutput ? linux_memory_file("duplex: what a command prints") : -1
    let kept = memory >= 0 ? FileDescriptor(owning: memory) : nil
    var process: pid_t = 0
    // Standard output is only for the results of this program.
    let result = ProcessStart.start(
      ["/bin/sh", "-c", script, "sh", path].map(FileName.bytes(of:)),
      output: memory >= 0 ? memory : STDERR_FILENO, errors: memory >= 0 ? memory : nil,
      variable: ("DUPLEX_FILE", FileName.bytes(of: path)), &process)
    guard result == 0 else {
      throw FileFailure(
        .writeFailed,
        "The command for \(path) cannot be started: \(SystemError(number: result).reason).",
        hint: "Run it yourself for that file.")
    }
    output = consume kept
    self.process = process
    self.command = command
    self.path = path
  }

  deinit {
    if !hasEnded { ProcessStart.leave(process) }
  }

  /// Returns whether the command has ended. Throws once if it ended with an error; the file itself
  /// is complete nevertheless.
  package mutating func isDone() throws(FileFailure) -> Bool {
    var status: Int32 = 0
    let answer = waitpid(process, &status, WNOHANG)
    guard answer != 0 else { return false }
    hasEnded = true
    guard answer > 0 else {
      throw FileFailure(
        .writeFailed, "It is not known how the command \(command) ended for \(path).",
        hint: "The recording continues; SIGCHLD must not be ignored where commands are run.")
    }
    // The exit status is in the second byte, a signal in the first.
    guard status == 0 else {
      let number = status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
      throw FileFailure(
        .writeFailed, "The command \(command) ended with \(number) for \(path).",
        hint: "The recording continues; run the command yourself for that file.")
    }
    return true
  }

  /// Returns the lines printed since the last call, if they are kept; with `isLast` also a last
  /// line without an end. Of more than 64 KiB or 100 lines, only the last are returned, and of a
  /// line that is overwritten after a carriage return, only the last part. Output that the command
  /// writes to `/dev/stderr` by name replaces earlier output that was not returned yet.
  package mutating func takeLines(isLast: Bool) -> [String] {
    let number: Int32
    switch output {
    case .some(let file): number = file.number
    case .none: return []
    }
    var status = stat()
    guard fstat(number, &status) == 0 else { return [] }
    let size = Int(status.st_size)
    if size < readByteCount { readByteCount = 0 }
    let first = max(readByteCount, size - Self.maximumPieceLength)
    // The returned output may begin in the middle of a line.
    if first > readByteCount { rest = [] }
    var piece = [UInt8](repeating: 0, count: size - first)
    let count = max(0, pread(number, &piece, piece.count, first))
    readByteCount = first + count
    // The memory of returned output is freed.
    _ = linux_punch_hole(number, 0, Int64(readByteCount))
    var lines = (rest + piece[..<count]).split(separator: 10, omittingEmptySubsequences: false)
    rest = Array((lines.popLast() ?? []).suffix(Self.maximumLineLength))
    if isLast { lines.append(rest[...]) }
    return lines.suffix(Self.maximumLines).compactMap { line in
      guard let shown = line.split(separator: 13).last else { return nil }
      return FileName.text(of: Array(shown.prefix(Self.maximumLineLength)))
    }
  }
}
