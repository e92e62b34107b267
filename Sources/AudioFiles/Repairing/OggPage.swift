/// A whole page of an Ogg file (RFC 3533, 6), its checksum right.
struct OggPage {
  let start: Int
  let end: Int
  let flags: UInt8
  /// Where the sound stands at its end; nil where no packet ends on it.
  let granule: Int?
  let serial: UInt32
  let sequence: UInt32
  /// Where its packets begin.
  let body: Int

  static let continues: UInt8 = 1
  static let begins: UInt8 = 2
  static let ends: UInt8 = 4
  static let flagsOffset = 5
  static let checksumOffset = 22
  private static let headByteCount = 27

  var begins: Bool { flags & Self.begins != 0 }
  var ends: Bool { flags & Self.ends != 0 }

  /// Reads the page at `start`; nil where there is none, or a damaged or torn one.
  init?(_ file: DamagedFile, at start: Int) throws(FileFailure) {
    let head = try file.bytes(at: start, count: Self.headByteCount)
    guard head.identifier(at: 0) == "OggS", head.count == Self.headByteCount, head[4] == 0,
      let granule = head.number(at: 6, 8, bigEndian: false),
      let serial = head.number(at: 14, 4, bigEndian: false),
      let sequence = head.number(at: 18, 4, bigEndian: false),
      let checksum = head.number(at: Self.checksumOffset, 4, bigEndian: false)
    else { return nil }
    let segments = Int(head[26])
    let lengths = try file.bytes(at: start + Self.headByteCount, count: segments)
    body = start + Self.headByteCount + segments
    end = lengths.reduce(body) { $0 + Int($1) }
    guard lengths.count == segments, end <= file.byteCount else { return nil }
    let bytes = try file.bytes(at: start, count: end - start)
    guard Self.checksum(bytes) == UInt32(checksum) else { return nil }
    self.start = start
    flags = head[Self.flagsOffset]
    self.granule = Int64(bitPattern: granule) == -1 ? nil : Int(Int64(bitPattern: granule))
    self.serial = UInt32(serial)
    self.sequence = UInt32(sequence)
  }

  /// The first bytes of the page as they must be for it to be the last of its stream.
  func endingHead(_ file: DamagedFile) throws(FileFailure) -> [UInt8] {
    var bytes = try file.bytes(at: start, count: end - start)
    bytes[Self.flagsOffset] |= Self.ends
    let checksum = Int(Self.checksum(bytes))
    bytes.replaceSubrange(
      Self.checksumOffset..<Self.checksumOffset + 4, with: [UInt8](checksum, 4, bigEndian: false))
    return Array(bytes[..<Self.headByteCount])
  }

  private static func checksum(_ page: [UInt8]) -> UInt32 {
    let table = Checksum.oggPage
    var word: UInt32 = 0
    for (index, byte) in page.enumerated() {
      let isOwn = index >= checksumOffset && index < checksumOffset + 4
      word = table.adding(isOwn ? 0 : byte, to: word)
    }
    return word
  }
}
