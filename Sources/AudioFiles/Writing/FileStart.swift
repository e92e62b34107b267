import Glibc

/// Bytes near the beginning of a growing file that no format changes until the file is finished: if
/// they change, another program has written to the file.
struct FileStart: Equatable {
  /// Whether the first byte is zero. It is zero in a growing MP3 file, and also in a hole of a
  /// file.
  private let beginsWithZero: Bool
  /// The four bytes at offset 8, after the first length in the file.
  private let identifier: UInt32

  /// Reads the bytes of an open file without moving its offset; nil if the file is shorter than 12
  /// bytes or cannot be read. Allocates no memory, because it runs with each write.
  init?(of descriptor: Int32) {
    var bytes: (UInt64, UInt32) = (0, 0)
    let count = withUnsafeMutableBytes(of: &bytes) { pread(descriptor, $0.baseAddress, 12, 0) }
    guard count == 12 else { return nil }
    beginsWithZero = bytes.0.littleEndian & 0xFF == 0
    identifier = bytes.1
  }
}
