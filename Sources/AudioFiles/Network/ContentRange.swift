/// What a `Content-Range` line says: `bytes 0-499/1234`, `bytes */1234`.
struct ContentRange: Equatable {
  /// nil where the request could not be met.
  let bytes: Range<Int>?
  /// Bytes of the whole file; nil where the server does not know.
  let total: Int?

  init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let total = parts[1] == "*" ? nil : Self.number(parts[1])
    guard total != nil || parts[1] == "*" else { return nil }
    self.total = total
    if parts[0] == "*" {
      bytes = nil
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, last < (total ?? Int.max)
    else { return nil }
    bytes = first..<last + 1
  }

  /// Digits only, and no more than the largest file has bytes.
  static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), number <= FileBounds.byteCount
    else { return nil }
    return number
  }
}
