/// What to do with a response.
enum ResponseVerdict: Equatable {
  /// Its body is the file from this byte on.
  case accept(from: Int)
  /// The file is elsewhere.
  case redirect(String)
  /// The server does not cope with ranges: ask for the whole.
  case withoutRange
  /// The server may do better soon.
  case later(FileFailure)
  case fail(FileFailure)
}

/// What was asked for, by which a response is judged.
struct ResponseRules {
  let address: WebAddress
  /// The first byte asked for; nil where no range was.
  let start: Int?
  /// nil for the first response.
  let known: RemoteFacts?

  func verdict(_ header: ResponseHeader) -> ResponseVerdict {
    switch header.status {
    case 200: whole(header)
    case 206: part(header)
    case 301, 302, 303, 307, 308:
      header.location.map { .redirect($0) } ?? .fail(.refused(address, header.status))
    case 416: outOfRange(header)
    case 412: .fail(.changed(address))
    case 408, 425, 429, 500...599: .later(.refused(address, header.status))
    default: .fail(.refused(address, header.status))
    }
  }

  /// What a first response says about the file.
  func facts(_ header: ResponseHeader) -> RemoteFacts {
    let isPart = header.status == 206
    // The length of a body with announcements says nothing about the sound.
    let length = header.announcementInterval == nil ? header.contentLength : nil
    return RemoteFacts(
      byteCount: isPart ? header.contentRange?.total : length,
      hasRanges: isPart && header.contentRange?.total != nil,
      isLive: header.isStation
        && (isPart ? header.contentRange?.total : header.contentLength) == nil,
      validator: header.validator, contentType: header.contentType, bitRate: header.bitRate)
  }

  private func whole(_ header: ResponseHeader) -> ResponseVerdict {
    if let failure = trouble(header) { return .fail(failure) }
    guard let known else { return .accept(from: 0) }
    // A station goes on where it is; a file begins anew, and must be the same one.
    if known.isLive { return .accept(from: 0) }
    if hasChanged(header, byteCount: header.contentLength) { return .fail(.changed(address)) }
    let isVouched = !known.validator.isEmpty && !header.validator.isEmpty || known.byteCount != nil
    return isVouched ? .accept(from: 0) : .fail(.notResumable(address))
  }

  private func part(_ header: ResponseHeader) -> ResponseVerdict {
    if let failure = trouble(header) { return .fail(failure) }
    // Without an end nobody could tell whether more comes behind the part.
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

  /// Why the body cannot be sound.
  private func trouble(_ header: ResponseHeader) -> FileFailure? {
    guard header.isIdentity else {
      return .packed(address, header.contentEncoding ?? "")
    }
    guard let type = header.contentType, !mayBeSound(type) else { return nil }
    return .wrongType(address, type)
  }

  /// Servers call sound many things; these it never is.
  private func mayBeSound(_ type: String) -> Bool {
    // Servers that do not know an ending call it text.
    if type == "text/plain" { return address.looksLikeSound }
    let others = [
      "application/json", "application/xml", "application/xhtml+xml", "application/javascript",
      "application/pdf", "application/rss+xml", "application/atom+xml",
    ]
    let kinds = ["text/", "image/", "multipart/", "message/", "font/", "model/"]
    return !others.contains(type) && !kinds.contains { type.hasPrefix($0) }
  }
}
