import CProgram
import Glibc

/// The arguments of the command line, from the system and without reading `/proc`. Any thread but
/// the audio thread.
package enum ProgramArguments {
  /// The bytes of each argument after the program's name. Arguments that name files need not be
  /// text.
  package static var bytes: [[UInt8]] {
    (1..<max(1, cprogram_argument_count())).compactMap { index in
      cprogram_argument(index).map { word in
        Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      }
    }
  }
}
