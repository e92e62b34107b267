import Glibc

/// What a FLAC file says about itself before its sound (RFC 9639, section 8): libsndfile keeps the
/// comments of each block, where the format knows one such block.
enum FLACComments {
  /// Bytes of all comments, at most; one block has 16 MiB less one byte.
  private static let most = 1 << 24
  private static let mostBlocks = 4096
  private static let commentType: UInt8 = 4

  /// Throws `.unusableContents` where a FLAC file in `descriptor`, from its position on, has more
  /// comments than fit into memory, or blocks without end. Says nothing of what is no FLAC file.
  static func check(
    _ descriptor: borrowing FileDescriptor, _ name: String
  ) throws(FileFailure) {
    guard var place = descriptor.position else { return }
    var head = bytes(of: descriptor, at: place)
    // Other programs put tags of MP3 files before it.
    while head.starts(with: "ID3".utf8), head.count == 10 {
      place += 10 + head[6...].reduce(0) { $0 << 7 | Int($1 & 127) }
      head = bytes(of: descriptor, at: place)
    }
    guard head.starts(with: "fLaC".utf8) else { return }
    place += 4
    var commentByteCount = 0
    for _ in 0..<mostBlocks {
      let block = bytes(of: descriptor, at: place)
      guard block.count >= 4 else { return }
      let byteCount = block[1...3].reduce(0) { $0 << 8 | Int($1) }
      if block[0] & 127 == commentType { commentByteCount += byteCount }
      guard commentByteCount < most else { throw .noSoundWithin(name, place + byteCount) }
      if block[0] & 128 != 0 { return }
      place += 4 + byteCount
    }
    throw .noSoundWithin(name, place)
  }

  private static func bytes(of descriptor: borrowing FileDescriptor, at place: Int) -> [UInt8] {
    let number = descriptor.number
    return Array(unsafeUninitializedCapacity: 10) { bytes, count in
      count = max(0, pread(number, bytes.baseAddress, 10, place))
    }
  }
}
