/// The first ten bytes of ID3v2 tags, 2.2 to 2.4 (id3.org: ID3 tag version 2.4.0, main structure,
/// 3.1).
struct ID3Head {
  /// Bytes of the head itself.
  static let byteCount = 10
  /// Bytes of ID3v1, which ends a file.
  static let closingByteCount = 128

  /// The second number of the version.
  let version: Int
  /// Whether a further head follows.
  let isExtended: Bool
  /// Whether a copy of the head stands behind the tags.
  let hasFooter: Bool
  /// Bytes of the tags, this head and the footer among them.
  let byteCount: Int

  /// nil where `bytes` begin no such tags.
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
