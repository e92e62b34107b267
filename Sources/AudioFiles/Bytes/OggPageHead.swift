/// The head of a page of an Ogg file, as far as it says how long the page is (RFC 3533, 6).
struct OggPageHead {
  /// Bytes before the lengths of its segments.
  static let byteCount = 27
  /// Bytes of the longest page.
  static let longestPage = byteCount + 255 + 255 * 255

  /// Where the page begins.
  let start: Int
  /// Where it should end; nil where the file ends before that is said.
  let end: Int?

  /// The last page in `bytes` that begins before `limit`, and not farther before it than a page is
  /// long; nil where there is none.
  static func last(in bytes: BufferedBytes, before limit: Int) throws(FileFailure) -> OggPageHead? {
    let first = max(0, limit - longestPage)
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
    let segments = Int(page[found + 26])
    let lengths = page.dropFirst(byteCount).prefix(segments)
    let end = lengths.reduce(first + found + byteCount + segments) { $0 + Int($1) }
    return OggPageHead(start: first + found, end: end)
  }
}
