import CLinuxFiles
import CProgram
import Glibc

/// Standard input, output and error. Any thread but the audio thread.
package enum StandardStreams {
  /// Occupies those that were closed when the program was started, so that no file of ours gets
  /// their number: what is read from or written to them fails as before, but where all three were
  /// closed, as for a daemon, which wants nothing printed. Before any file is opened.
  package static func occupyClosed() {
    let streams = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    let closed = streams.filter { fcntl($0, F_GETFD) < 0 }
    for descriptor in closed {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      // The lowest free number is this one.
      _ = open("/dev/null", closed == streams ? O_RDWR : access)
    }
  }
}

/// The words of the command line as the system handed them over: they need no readable `/proc`.
/// Any thread but the audio thread.
package enum ProgramArguments {
  /// The words behind the program's name, byte by byte.
  package static var bytes: [[UInt8]] {
    (1..<max(1, cprogram_argument_count())).compactMap { index in
      cprogram_argument(index).map { word in
        Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      }
    }
  }

  /// The same as text, from which `FileName` gets every byte back.
  package static var words: [String] { bytes.map { FileName.text(of: $0) } }
}

/// Handling of the signals that end the program while they are not watched for. Any thread but the
/// audio thread.
package enum ProgramSignals {
  /// From now on SIGINT, SIGTERM and SIGHUP end it at once with `status`, where they are not
  /// ignored: `sentence` goes to standard error before, and `event` to standard output.
  package static func endProgram(status: Int32, sentence: String, event: String) {
    cprogram_end_on_signals(status, sentence, event)
  }

  /// Tells whether a panel is drawn on the terminal behind standard error, from the cursor on: it
  /// is erased before Ctrl-Z stops the program.
  package static func eraseAtStop(isDrawn: Bool) { cprogram_erase_at_stop(isDrawn) }
}

/// Starts other programs.
enum ProcessStart {
  /// Starts the program `words[0]`, found as a shell finds it, in a process group of its own: a
  /// Ctrl-C at the terminal is not for it. Its standard input is empty, its standard output is
  /// `output`, and its standard error `errors` where that is given. `variable` is added to its
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
    // The signals that we block or ignore are for the program as they are for any other.
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

/// Result of running another program that is asked something.
public enum ProgramAnswer: Equatable, Sendable {
  /// It ended well, and printed this.
  case text(String)
  /// It is not installed, or ended with an error.
  case failed
  /// It did not end in time, and was ended.
  case late

  /// Runs the program `words[0]` for at most so long, and keeps the first 64 KiB of what it prints.
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
    // What has closed its output may still be ending.
    while text != nil, waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < end else { return stop(process) }
      usleep(2000)
    }
    guard let text else { return stop(process) }
    return status == 0 ? .text(text) : .failed
  }

  private static func stop(_ process: pid_t) -> ProgramAnswer {
    kill(-process, SIGKILL)
    // One that does not end even so, in a call of the kernel's, is left to it.
    for _ in 0..<50 where waitpid(process, nil, WNOHANG) == 0 { usleep(2000) }
    return .late
  }

  /// Nil where it did not end in time.
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
