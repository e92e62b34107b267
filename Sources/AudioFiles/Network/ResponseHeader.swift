/// What the header of a response says, as far as sound is concerned.
struct ResponseHeader: Equatable {
  var status = 0
  /// In lower case, without parameters.
  var contentType: String?
  var contentLength: Int?
  var contentRange: ContentRange?
  var contentEncoding: String?
  var location: String?
  var validator = FileValidator()
  /// Whether a radio station answers.
  var isStation = false
  /// Bytes of sound between two announcements.
  var announcementInterval: Int?
  /// Bits a second.
  var bitRate: Int?
  var stationName: String?

  /// Takes in one line without its end.
  mutating func add(_ line: String) {
    if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {
      // What came before was an interim response.
      self = ResponseHeader()
      isStation = line.hasPrefix("ICY ")
      let words = line.split(separator: " ", maxSplits: 2)
      status = words.count > 1 ? ContentRange.number(words[1]) ?? 0 : 0
      return
    }
    guard let colon = line.firstIndex(of: ":") else { return }
    let value = String(line[line.index(after: colon)...]).trimmed
    let name = line[..<colon].lowercased()
    if name.hasPrefix("icy-") { isStation = true }
    switch name {
    case "content-type":
      let type = value.prefix { $0 != ";" }.lowercased().trimmed
      contentType = type.isEmpty ? nil : type
    case "content-length": contentLength = ContentRange.number(value)
    case "content-range": contentRange = ContentRange(value)
    case "content-encoding": contentEncoding = value.lowercased()
    case "location": location = value
    case "etag": validator.tag = value
    case "last-modified": validator.date = value
    case "icy-metaint":
      announcementInterval = ContentRange.number(value).flatMap { $0 > 0 ? $0 : nil }
    case "icy-br":
      // Some say it twice: "128,128".
      let first = value.prefix { $0.isNumber }
      bitRate = ContentRange.number(first).flatMap {
        (1...1_000_000).contains($0) ? $0 * 1000 : nil
      }
    case "icy-name": stationName = value.isEmpty ? nil : value
    default: break
    }
  }

  /// Whether the body is what it is, not packed.
  var isIdentity: Bool {
    guard let contentEncoding, !contentEncoding.isEmpty else { return true }
    return contentEncoding == "identity"
  }
}
