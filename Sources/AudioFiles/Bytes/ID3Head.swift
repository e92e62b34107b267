/// The first ten bytes of an ID3v2 tag, versions 2.2 to 2.4 (id3.org: ID3 tag version 2.4.0, main
/// structure, 3.1).
struct ID3Head {
  /// The size of the header in bytes.
  static let byteCount = 10
  /// The size in bytes of an ID3v1 tag, which is at the end of a file.
  static let closingByteCount = 128

  /// The major version: 2, 3 or 4 for ID3v2.2 to ID3v2.4.
  let version: Int
  /// Whether an extended header follows.
  let isExtended: Bool
  /// Whether a footer, a copy of the header, follows the tag.
  let hasFooter: Bool
  /// The size of the whole tag in bytes, including this header and the footer.
  let byteCount: Int

  /// Parses the header. Returns nil if `bytes` do not begin with an ID3v2 tag.
  init?(_ bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(Self.byteCount))
    guard head.count == Self.byteCount, head.starts(with: "ID3".utf8), (2...4).contains(head[3])
    else { return nil }
    version = Int(head[3])
    isExtended = version > 2 && head[5] & 0x40 != 0
    hasFooter = head[5] & 0x10 != 0
    byteCount = Self.byteCount * (hasFooter ? 2 : 1) + head[6...].syncSafeNumber
  }
}
