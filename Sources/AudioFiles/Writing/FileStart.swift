import Glibc

/// Bytes near the beginning of a growing file that no format changes until the file is finished:
/// where they differ, another program has written into it.
struct FileStart: Equatable {
  /// Whether the first byte is a zero: those of a growing MP3 are, and so are a hole's.
  private let beginsWithZero: Bool
  /// The four bytes behind the file's first length, at offset 8.
  private let identifier: UInt32

  /// Reads it from an open file, without moving its offset; nil where the file is shorter or cannot
  /// be read. Allocates nothing: it is read with each write.
  init?(of descriptor: Int32) {
    var bytes: (UInt64, UInt32) = (0, 0)
    let count = withUnsafeMutableBytes(of: &bytes) { pread(descriptor, $0.baseAddress, 12, 0) }
    guard count == 12 else { return nil }
    beginsWithZero = bytes.0.littleEndian & 0xFF == 0
    identifier = bytes.1
  }
}
