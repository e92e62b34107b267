/// The header of an Ogg page, limited to the fields that give the page length (RFC 3533, 6).
struct OggPageHead {
  /// The size in bytes of the header before the table of segment lengths.
  static let byteCount = 27
  /// The size of the longest possible page in bytes.
  static let maximumPageByteCount = byteCount + 255 + 255 * 255

  /// The offsets of fields in the header.
  static let flagsOffset = 5
  static let positionOffset = 6
  static let checksumOffset = 22
  static let segmentCountOffset = 26

  /// Flags: the page continues a packet of the page before; it is the first or the last page of its
  /// stream.
  static let continues: UInt8 = 1
  static let begins: UInt8 = 2
  static let ends: UInt8 = 4

  /// The offset of the page in the file.
  let start: Int
  /// The offset at which the page should end; nil if the file ends before the page length is known.
  let end: Int?

  /// Returns the last page in `bytes` that begins before `limit`. Searches at most the length of
  /// the longest page before `limit`. Returns nil if there is no page.
  static func last(in bytes: BufferedBytes, before limit: Int) throws(FileFailure) -> OggPageHead? {
    let first = max(0, limit - maximumPageByteCount)
    var read: [UInt8] = []
    while first + read.count < limit {
      let piece = try bytes.bytes(
        at: first + read.count, count: min(16384, limit - first - read.count))
      guard piece.count > 0 else { return nil }
      read += piece
    }
    let name = Array("OggS".utf8) + [0]
    let found = read.indices.last {
      read[$0] == name[0] && read[$0...].starts(with: name)
    }
    guard let found else { return nil }
    let page = read[found...]
    guard page.count >= byteCount else { return OggPageHead(start: first + found, end: nil) }
    return OggPageHead(start: first + found, end: first + found + pageByteCount(page))
  }

  /// Returns the size of the page that begins with `head`, its header with the table of segment
  /// lengths.
  static func pageByteCount(_ head: ArraySlice<UInt8>) -> Int {
    let segments = Int(head[head.startIndex + segmentCountOffset])
    return head.dropFirst(byteCount).prefix(segments).reduce(byteCount + segments) { $0 + Int($1) }
  }

  /// Returns the position in the audio at the end of the page at `page`; nil if no packet ends in
  /// it, for which the position is -1.
  static func position(in bytes: [UInt8], at page: Int) -> Int? {
    let number = bytes.number(at: page + positionOffset, 8, bigEndian: false)
    return number.flatMap { $0 < 1 << 48 ? Int($0) : nil }
  }

  /// Returns the checksum of a whole page. The field that contains it counts as zero.
  static func checksum(_ page: [UInt8]) -> UInt32 {
    let table = Checksum.oggPage
    var word: UInt32 = 0
    for (index, byte) in page.enumerated() {
      let isOwn = index >= checksumOffset && index < checksumOffset + 4
      word = table.adding(isOwn ? 0 : byte, to: word)
    }
    return word
  }

  /// Returns a changed page with its new checksum.
  static func checked(_ page: [UInt8]) -> [UInt8] {
    let checksum = [UInt8](Int(checksum(page)), 4, bigEndian: false)
    return page[..<checksumOffset] + checksum + page[(checksumOffset + 4)...]
  }
}
