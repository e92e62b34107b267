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
