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
    let result = Self.spawn(["/bin/sh", "-c", script, "sh", path], file: path, &process)
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

  private static func spawn(_ words: [String], file: String, _ process: inout pid_t) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    // Standard output carries our results and nothing else.
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The signals that we block or ignore are for the command as they are for any other.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    // A Ctrl-C at the terminal is for the recording: the command may finish.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var arguments = words.map { word in FileSystem.withBytes(of: word) { strdup($0) } } + [nil]
    defer { arguments.forEach { free($0) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [
      FileSystem.withBytes(of: "DUPLEX_FILE=\(file)") { strdup($0) }
    ]
    let own = environment[0]
    defer { free(own) }
    var entry = environ
    while let variable = entry.pointee {
      if strncmp(variable, "DUPLEX_FILE=", 12) != 0 { environment.append(variable) }
      entry += 1
    }
    environment.append(nil)
    return posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, &environment)
  }
}
