import Glibc

/// Standard input, output and error.
public enum StandardStreams {
  /// Occupies those that were closed when the program was started, so that no file of ours gets
  /// their number: what is read from or written to them fails as before. Before any file is opened.
  public static func occupyClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
