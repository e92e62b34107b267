import CProgram
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

/// The words of the command line as the system handed them over: they need no readable `/proc`.
public enum ProgramArguments {
  /// The words behind the program's name, byte by byte.
  public static var bytes: [[UInt8]] {
    (1..<max(1, cprogram_argument_count())).compactMap { index in
      cprogram_argument(index).map { word in
        Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      }
    }
  }

  /// The same as text, from which `FileName` gets every byte back.
  public static var words: [String] { bytes.map { FileName.text(of: $0) } }
}

/// How signals end the program while they are not watched for.
public enum ProgramSignals {
  /// From now on SIGINT, SIGTERM and SIGHUP end it at once with `status`, where they are not ignored:
  /// `sentence` goes to standard error before, and `event` to standard output.
  public static func endProgram(status: Int32, sentence: String, event: String) {
    cprogram_end_on_signals(status, sentence, event)
  }
}
