import Glibc

/// Starts other programs.
enum ProcessStart {
  /// Starts the program `words[0]`, found as a shell finds it, in a process group of its own: a Ctrl-C
  /// at the terminal is not for it. Its standard input is empty, its standard output is `output`, and
  /// its standard error `errors` where that is given. `variable` is added to its environment. Returns 0,
  /// or the number of the error.
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
