import Glibc

/// A shell command that runs for a file, beside everything else.
///
/// The command finds the file's path in `$1` and in `DUPLEX_FILE`; where it has no `$` in it, the
/// path is added at its end. It hears no keys, and what it prints goes to standard error.
public struct FileCommand: Sendable {
  private let process: pid_t
  private let command: String
  private let path: String

  /// Starts `command` for `path`. Throws `.writeFailed` where no process can be made.
  public init(_ command: String, for path: String) throws(FileFailure) {
    let script = command.contains("$") ? command : command + " \"$@\""
    var process: pid_t = 0
    // Standard output carries our results and nothing else.
    let result = ProcessStart.start(
      ["/bin/sh", "-c", script, "sh", path], output: STDERR_FILENO,
      variable: ("DUPLEX_FILE", path), &process)
    guard result == 0 else {
      throw FileFailure(
        .writeFailed,
        "The command for \(path) cannot be started: \(SystemError(number: result).reason).",
        hint: "Run it yourself for that file.")
    }
    self.process = process
    self.command = command
    self.path = path
  }

  /// Whether it has ended. Throws once where it ended badly; what the command was for is whole.
  public func isDone() throws(FileFailure) -> Bool {
    var status: Int32 = 0
    let answer = waitpid(process, &status, WNOHANG)
    guard answer != 0 else { return false }
    // The exit status lies in the second byte; a signal in the first.
    guard answer < 0 || status == 0 else {
      let number = status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
      throw FileFailure(
        .writeFailed, "The command \(command) ended with \(number) for \(path).",
        hint: "The recording goes on; run the command yourself for that file.")
    }
    return true
  }
}
