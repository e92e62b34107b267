import Glibc

/// The start of other programs. Any thread but the audio thread.
package enum ProcessStart {
  /// Starts the program `words[0]`, which is searched for as by a shell, in a new process group, so
  /// that Ctrl-C at the terminal does not reach it. Its standard input is empty, its standard
  /// output is `output`, and its standard error is `errors` if given. `variable` is added to its
  /// environment. Returns 0, or the number of the error. Words are bytes, since names of files need
  /// not be text; a word with a zero byte, at which it would end, is passed as an empty one.
  package static func start(
    _ words: [[UInt8]], output: Int32, errors: Int32? = nil,
    variable: (name: String, value: [UInt8])? = nil, _ process: inout pid_t
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
    let prefix = variable.map { "\($0.name)=" } ?? ""
    let own = variable.flatMap { copy(Array(prefix.utf8) + $0.value) }
    defer { free(own) }
    var environment: [UnsafeMutablePointer<CChar>?] = own.map { [$0] } ?? []
    var entry = environ
    while let other = entry.pointee {
      if prefix.isEmpty || strncmp(other, prefix, prefix.utf8.count) != 0 {
        environment.append(other)
      }
      entry += 1
    }
    environment.append(nil)
    guard let program = arguments[0] else { return ENOMEM }
    return posix_spawnp(&process, program, &actions, &attributes, &arguments, &environment)
  }

  /// Gives up a process that was started: it continues, and a thread waits for its end. Otherwise
  /// it would remain in the table of processes after its end, and a wait of this program for any of
  /// its children would find it again and again.
  package static func leave(_ process: pid_t) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 65536)
    // The thread inherits the mask: signals are for the threads that handle them.
    var all = sigset_t()
    sigfillset(&all)
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, &all, &mask)
    defer { pthread_sigmask(SIG_SETMASK, &mask, nil) }
    var thread = pthread_t()
    pthread_create(
      &thread, &attributes,
      { process in
        waitpid(pid_t(truncatingIfNeeded: Int(bitPattern: process)), nil, 0)
        return nil
      }, UnsafeMutableRawPointer(bitPattern: Int(process)))
  }

  private static func copy(_ word: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    strdup(word.contains(0) ? [0] : word.map { CChar(bitPattern: $0) } + [0])
  }
}
