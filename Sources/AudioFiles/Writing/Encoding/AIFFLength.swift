import Glibc

/// The length of an AIFF file's sound chunk. libsndfile, completing a file of an odd length, counts the
/// byte that follows such a chunk and does not belong to it.
enum AIFFLength {
  /// Makes the chunk whose `byteCount` bytes of samples end at `end` say how long it is.
  static func tell(_ byteCount: Int, endingAt end: Int, in descriptor: Int32) {
    guard let length = UInt32(exactly: byteCount + 8) else { return }
    // Behind name and length stand two numbers that belong to the chunk.
    let place = end - byteCount - 16
    var name = [UInt8](repeating: 0, count: 4)
    guard place >= 0, pread(descriptor, &name, 4, place) == 4, name == Array("SSND".utf8) else {
      return
    }
    let bytes = withUnsafeBytes(of: length.bigEndian) { Array($0) }
    _ = OutputBytes.overwrite(bytes, at: place + 4, in: descriptor)
  }
}
