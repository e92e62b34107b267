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
