import Glibc

/// The number of frames that the head of a FLAC file tells, kept true while the file is written: the
/// encoder itself notes it at the end only, and readers take a file without it for one without end.
struct FLACLength {
  private let descriptor: Int32
  /// Frames in every block but the last.
  private let blockSize: Int
  /// The byte whose lower half begins the number, which has 36 bits.
  private static let place = 21
  private static let mask = 1 << 36 - 1

  /// Looks at the head of the file, which is there from the first frame on; nil before.
  init?(_ descriptor: Int32) {
    guard let head = Self.head(descriptor) else { return nil }
    self.descriptor = descriptor
    blockSize = Int(head[8]) << 8 | Int(head[9])
  }

  /// What surely is in the file when the encoder has taken so many frames: it puts a block out, at
  /// once, when it was given the block and one more frame, since the last one is told apart.
  func codedFrameCount(of frameCount: Int) -> Int {
    guard blockSize > 0 else { return 0 }
    return max(0, frameCount - 1) / blockSize * blockSize
  }

  /// What the file says; 0 where it does not.
  var told: Int {
    guard let head = Self.head(descriptor) else { return 0 }
    return head[Self.place..<Self.place + 5].reduce(0) { $0 << 8 | Int($1) } & Self.mask
  }

  /// Makes the file say so. Where the encoder writes on does not move.
  func tell(_ frameCount: Int) throws(SystemError) {
    guard let head = Self.head(descriptor) else { throw SystemError(number: EIO) }
    let number = frameCount <= Self.mask ? frameCount : 0
    var bytes = (0..<5).map { UInt8(truncatingIfNeeded: number >> (32 - 8 * $0)) }
    bytes[0] |= head[Self.place] & 0xF0
    guard OutputBytes.overwrite(bytes, at: Self.place, in: descriptor) else { throw .last }
  }

  private static func head(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 42)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count,
      bytes.starts(with: Array("fLaC".utf8)), bytes[4] & 0x7F == 0
    else { return nil }
    return bytes
  }
}
