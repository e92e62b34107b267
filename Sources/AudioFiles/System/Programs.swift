import CLinuxFiles
import CProgram
import Glibc

/// Standard input, output and error. Any thread but the audio thread.
package enum StandardStreams {
  /// Opens `/dev/null` for those streams that were closed when the program was started, so that no
  /// other file gets their numbers. Reading and writing them still fails, unless all three were
  /// closed, as for a daemon, whose output is discarded. Call it before any file is opened.
  package static func occupyClosed() {
    let streams = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    let closed = streams.filter { fcntl($0, F_GETFD) < 0 }
    for descriptor in closed {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      // The lowest free number is that of the closed stream.
      _ = open("/dev/null", closed == streams ? O_RDWR : access)
    }
  }
}

/// The arguments of the command line, from the system and without reading `/proc`. Any thread but
/// the audio thread.
package enum ProgramArguments {
  /// The bytes of each argument after the program's name.
  package static var bytes: [[UInt8]] {
    (1..<max(1, cprogram_argument_count())).compactMap { index in
      cprogram_argument(index).map { word in
        Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      }
    }
  }

  /// The arguments as text, from which `FileName` can restore every byte.
  package static var words: [String] { bytes.map { FileName.text(of: $0) } }
}

/// Handling of the signals that end the program, for the time when nothing watches for them. Any
/// thread but the audio thread.
package enum ProgramSignals {
  /// Makes SIGINT, SIGTERM and SIGHUP, unless they are ignored, end the program at once with
  /// `status`, after writing `sentence` to standard error and `event` to standard output.
  package static func endProgram(status: Int32, sentence: String, event: String) {
    cprogram_end_on_signals(status, sentence, event)
  }

  /// Sets whether a panel is drawn on the terminal at standard error, from the cursor on. If so, it
  /// is erased before Ctrl-Z stops the program.
  package static func eraseAtStop(isDrawn: Bool) { cprogram_erase_at_stop(isDrawn) }
}

/// The start of other programs.
enum ProcessStart {
  /// Starts the program `words[0]`, which is searched for as by a shell, in a new process group, so
  /// that Ctrl-C at the terminal does not reach it. Its standard input is empty, its standard
  /// output is `output`, and its standard error is `errors` if given. `variable` is added to its
  /// environment. Returns 0, or the number of the error.
  static func start(
    _ words: [String], output: Int32, errors: Int32? = nil,
    variable: (name: String, value: String)? = nil, _ process: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The signals that this program blocks or ignores have their default action in the new one.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var arguments = words.map(copy) + [nil]
    defer { arguments.forEach { free($0) } }
    let own = variable.map { copy("\($0.name)=\($0.value)") } ?? nil
    defer { free(own) }
    var environment: [UnsafeMutablePointer<CChar>?] = own.map { [$0] } ?? []
    let prefix = variable.map { "\($0.name)=" } ?? ""
    var entry = environ
    while let other = entry.pointee {
      if prefix.isEmpty || strncmp(other, prefix, prefix.utf8.count) != 0 {
        environment.append(other)
      }
      entry += 1
    }
    environment.append(nil)
    return posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &environment)
  }

  private static func copy(_ word: String) -> UnsafeMutablePointer<CChar>? {
    FileSystem.withBytes(of: word) { strdup($0) }
  }
}

/// The result of running another program for its output.
public enum ProgramAnswer: Equatable, Sendable {
  /// The program ended with status 0 and printed this.
  case text(String)
  /// The program is not installed, or ended with an error.
  case failed
  /// The program did not end in time and was killed.
  case late

  /// Runs the program `words[0]` for at most `milliseconds`, and keeps the first 64 KiB of its
  /// output.
  public static func asking(_ words: [String], milliseconds: Int) -> ProgramAnswer {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe(&ends, true) else { return .failed }
    let reading = FileDescriptor(owning: ends[0])
    var process: pid_t = 0
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    let result = ProcessStart.start(words, output: ends[1], errors: nothing, &process)
    close(ends[1])
    if nothing >= 0 { close(nothing) }
    guard result == 0 else { return .failed }
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    let text = text(from: reading.number, until: end)
    var status: Int32 = 0
    // A program that has closed its output may still be running.
    while text != nil, waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < end else { return stop(process) }
      usleep(2000)
    }
    guard let text else { return stop(process) }
    return status == 0 ? .text(text) : .failed
  }

  private static func stop(_ process: pid_t) -> ProgramAnswer {
    kill(-process, SIGKILL)
    // A process that does not end even then, because it is in a system call, is left to the kernel.
    for _ in 0..<50 where waitpid(process, nil, WNOHANG) == 0 { usleep(2000) }
    return .late
  }

  /// Returns the output of the program; nil if it did not end in time.
  private static func text(from descriptor: Int32, until end: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      guard ContinuousClock.now < end else { return nil }
      var set = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let answer = poll(&set, 1, 10)
      if answer < 0, errno == EINTR { continue }
      guard answer >= 0 else { return nil }
      if answer == 0 { continue }
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      if bytes.count < 1 << 16 { bytes += piece.prefix(count) }
    }
  }
}
