import CProgram
import Glibc

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
