/// The decision about a response.
enum ResponseVerdict: Equatable {
  /// The body contains the file from this byte on.
  case accept(from: Int)
  /// The file is at another address.
  case redirect(String)
  /// The server does not support ranges: request the whole file.
  case withoutRange
  /// A temporary failure. A later request may succeed.
  case later(FileFailure)
  case fail(FileFailure)
}

/// The request and the known properties of the file, by which a response is judged.
struct ResponseRules {
  let address: WebAddress
  /// The first byte requested; nil if no range was requested.
  let start: Int?
  /// The properties from the first response; nil if this is the first response.
  let known: RemoteFacts?

  func verdict(_ header: ResponseHeader) -> ResponseVerdict {
    switch header.status {
    // A proxy on the way may have changed the file (203).
    case 200, 203: whole(header)
    case 206: part(header)
    case 301, 302, 303, 307, 308:
      header.location.map { .redirect($0) } ?? .fail(.refused(address, header.status))
    case 416: outOfRange(header)
    case 412: .fail(.changed(address))
    // Station servers return 404 until the station is connected to them again.
    case 404 where known?.isLive == true: .later(.refused(address, header.status))
    case 408, 425, 429, 500...599: .later(.refused(address, header.status))
    default: .fail(.refused(address, header.status))
    }
  }

  /// Returns the properties of the file according to its first response.
  func facts(_ header: ResponseHeader) -> RemoteFacts {
    let isPart = header.status == 206
    // The length of a body with embedded titles is not the length of the audio data.
    let length = header.announcementInterval == nil ? header.contentLength : nil
    return RemoteFacts(
      location: address, byteCount: isPart ? header.contentRange?.total : length,
      hasRanges: isPart && header.contentRange?.total != nil,
      isLive: header.isStation
        && (isPart ? header.contentRange?.total : header.contentLength) == nil,
      validator: header.validator, contentType: header.contentType, bitRate: header.bitRate)
  }

  private func whole(_ header: ResponseHeader) -> ResponseVerdict {
    if let failure = bodyFailure(header) { return .fail(failure) }
    guard let known else { return .accept(from: 0) }
    // A station continues at the present time. A file is sent from its beginning, and must be
    // unchanged.
    if known.isLive { return .accept(from: 0) }
    if hasChanged(header, byteCount: header.contentLength) { return .fail(.changed(address)) }
    let isVerifiable =
      !known.validator.isEmpty && !header.validator.isEmpty || known.byteCount != nil
    return isVerifiable ? .accept(from: 0) : .fail(.notResumable(address))
  }

  private func part(_ header: ResponseHeader) -> ResponseVerdict {
    if let failure = bodyFailure(header) { return .fail(failure) }
    // Without a total length, the end of the part is not known to be the end of the file.
    if known == nil, start != nil, header.contentRange?.total == nil { return .withoutRange }
    guard let start, let range = header.contentRange, let bytes = range.bytes,
      bytes.lowerBound == start, header.announcementInterval == nil
    else {
      return known == nil && start != nil ? .withoutRange : .fail(.wrongRange(address))
    }
    if hasChanged(header, byteCount: range.total) { return .fail(.changed(address)) }
    return .accept(from: start)
  }

  private func outOfRange(_ header: ResponseHeader) -> ResponseVerdict {
    guard known != nil else {
      return start == nil ? .fail(.refused(address, 416)) : .withoutRange
    }
    let isOther = hasChanged(header, byteCount: header.contentRange?.total)
    return .fail(isOther ? .changed(address) : .tooShort(address))
  }

  private func hasChanged(_ header: ResponseHeader, byteCount: Int?) -> Bool {
    guard let known else { return false }
    if known.validator.differs(from: header.validator) { return true }
    guard let before = known.byteCount, let byteCount else { return false }
    return before != byteCount
  }

  /// Returns the failure if the body cannot be audio; otherwise nil.
  private func bodyFailure(_ header: ResponseHeader) -> FileFailure? {
    guard header.isIdentity else {
      return .packed(address, header.contentEncoding ?? "")
    }
    guard let type = header.contentType, !mayBeSound(type) else { return nil }
    return .wrongType(address, type)
  }

  /// Returns whether `type` may be audio. Servers use many types for audio, so only types that
  /// never contain audio are rejected.
  private func mayBeSound(_ type: String) -> Bool {
    // Servers use text/plain for unknown extensions.
    if type == "text/plain" { return address.looksLikeSound }
    let others = [
      "application/json", "application/xml", "application/xhtml+xml", "application/javascript",
      "application/pdf", "application/rss+xml", "application/atom+xml",
    ]
    let kinds = ["text/", "image/", "multipart/", "message/", "font/", "model/"]
    return !others.contains(type) && !kinds.contains { type.hasPrefix($0) }
  }
}

/// The header of a response, limited to the fields used here.
struct ResponseHeader: Equatable {
  var status = 0
  /// The MIME type in lower case, without parameters.
  var contentType: String?
  /// The length of the whole body; nil for a body with a transfer coding such as chunked, for which
  /// `Content-Length` is ignored (RFC 9112, section 6.3).
  var contentLength: Int? { hasTransferCoding ? nil : writtenLength }
  var writtenLength: Int?
  var hasTransferCoding = false
  var contentRange: ContentRange?
  var contentEncoding: String?
  var location: String?
  var validator = FileValidator()
  /// Whether the server is a radio station.
  var isStation = false
  /// The number of bytes of audio between two embedded titles.
  var announcementInterval: Int?
  /// The bit rate in bits per second.
  var bitRate: Int?
  var stationName: String?

  /// Parses one header line without its line end.
  mutating func add(_ line: String) {
    if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {
      // The lines before belong to an interim response.
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
    case "content-length": writtenLength = ContentRange.number(value)
    case "content-range": contentRange = ContentRange(value)
    case "content-encoding": contentEncoding = value.lowercased()
    case "transfer-encoding":
      hasTransferCoding = hasTransferCoding || value.lowercased() != "identity"
    case "location": location = value
    case "etag": validator.tag = value
    case "last-modified": validator.date = value
    case "icy-metaint":
      announcementInterval = ContentRange.number(value).flatMap { $0 > 0 ? $0 : nil }
    case "icy-br":
      // Some servers send the value twice: "128,128".
      let first = value.prefix { $0.isNumber }
      bitRate = ContentRange.number(first).flatMap {
        (1...1_000_000).contains($0) ? $0 * 1000 : nil
      }
    case "icy-name": stationName = value.isEmpty ? nil : value
    default: break
    }
  }

  /// The names of content codings that compress or encrypt a body (RFC 9110, section 8.4.1; the
  /// registry of IANA). Servers also send other words, such as `none`, `binary` and `utf-8`, which
  /// have no effect.
  private static let packings: Set<Substring> = [
    "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd", "dcb", "dcz", "exi",
    "pack200-gzip", "aes128gcm",
  ]

  /// Whether the body is sent without a content coding.
  var isIdentity: Bool {
    guard let contentEncoding else { return true }
    return contentEncoding.split { $0 == "," || $0.isWhitespace }.allSatisfy {
      !Self.packings.contains($0)
    }
  }
}

/// The value of a `Content-Range` line: `bytes 0-499/1234`, `bytes */1234`.
struct ContentRange: Equatable {
  /// The range of the bytes in the body; nil if the request could not be satisfied.
  let bytes: Range<Int>?
  /// The length of the whole file in bytes; nil if the server does not know it.
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

  /// Parses a number that consists of decimal digits only. Returns nil for other text, and if the
  /// number exceeds the length of the largest possible file.
  static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), number <= FileBounds.byteCount
    else { return nil }
    return number
  }
}

/// The entity tag and the modification date, which identify the version of a file on a server.
struct FileValidator: Equatable, Sendable {
  /// The entity tag as sent, including the quotes.
  var tag: String?
  var date: String?

  /// The value for an `If-Range` line. A weak tag is not used, because it does not guarantee
  /// identical bytes.
  var condition: String? {
    if let tag, tag.hasPrefix("\"") { return tag }
    return date
  }

  var isEmpty: Bool { tag == nil && date == nil }

  /// Returns whether `other` belongs to another version, as far as the fields show.
  func differs(from other: FileValidator) -> Bool {
    if let tag, let otherTag = other.tag { return tag != otherTag }
    if let date, let otherDate = other.date { return date != otherDate }
    return false
  }
}

/// Decoding of text received from a network.
extension String {
  /// Decodes `bytes` as UTF-8 if they are valid UTF-8, otherwise as Latin-1.
  init(fromNetwork bytes: some Collection<UInt8>) {
    if let text = String(validating: bytes, as: UTF8.self) {
      self = text
    } else {
      self.init()
      for byte in bytes { unicodeScalars.append(Unicode.Scalar(byte)) }
    }
  }
}
