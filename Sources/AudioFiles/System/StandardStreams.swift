import Glibc

/// Standard input, output and error.
public enum StandardStreams {
  /// Occupies those that were closed when the program was started, so that no file of ours gets
  /// their number: what is read from or written to them fails as before, but where all three were
  /// closed, as for a daemon, which wants nothing printed. Before any file is opened.
  public static func occupyClosed() {
    let streams = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    let closed = streams.filter { fcntl($0, F_GETFD) < 0 }
    for descriptor in closed {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      // The lowest free number is this one.
      _ = open("/dev/null", closed == streams ? O_RDWR : access)
    }
  }
}
