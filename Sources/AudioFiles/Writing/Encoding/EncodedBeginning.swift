import Glibc

/// The beginning of a file that an encoder writes, which nobody can read before there is sound in it.
enum EncodedBeginning {
  /// Whether the Opus file behind `descriptor` holds a page of sound: libsndfile writes its head with
  /// the first samples, and such a page when one is full.
  static func holdsOpusPage(_ descriptor: Int32) -> Bool {
    var place = 0
    var head = [UInt8](repeating: 0, count: 27 + 255)
    while pread(descriptor, &head, head.count, place) >= 28, head.starts(with: Array("OggS".utf8)) {
      let segments = Int(head[26])
      let position = head[6..<14].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      // Pages of the head end at frame 0, and some pages end no packet at all.
      if position > 0, position < 1 << 62 { return true }
      place += 27 + segments + head[27..<27 + segments].reduce(0) { $0 + Int($1) }
    }
    return false
  }

  /// Whether the MP3 file behind `descriptor`, written up to `end`, holds blocks of sound behind its
  /// tags and the block that will say how long it is (at most 417 bytes).
  static func holdsMP3Blocks(_ descriptor: Int32, end: Int) -> Bool {
    var head = [UInt8](repeating: 0, count: 10)
    guard pread(descriptor, &head, head.count, 0) == head.count else { return false }
    let isTag = head.starts(with: Array("ID3".utf8))
    let tags = isTag ? 10 + head[6...].reduce(0) { $0 << 7 | Int($1 & 0x7F) } : 0
    return end - tags >= 700
  }
}
