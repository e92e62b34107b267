/// Search for what may follow the samples of a file of chunks.
extension ChunkWalk {
  /// Whether a chunk begins at `offset`, or what other programs put behind a whole file.
  func beginsTail(at offset: Int) throws(FileFailure) -> Bool {
    if try beginsChunk(at: offset) { return true }
    return try isForeign(from: offset)
  }

  /// Whether a chunk begins at `offset`: one of a known name, or one from which others lead to the
  /// end of the file. Four letters alone are in every long recording.
  func beginsChunk(at offset: Int) throws(FileFailure) -> Bool {
    guard let chunk = try chunk(at: offset) else { return false }
    if style.knownIdentifiers.contains(chunk.identifier) { return true }
    return try leadsToEnd(from: offset)
  }

  /// Whether whole chunks follow one another from `offset` to the last byte.
  private func leadsToEnd(from offset: Int) throws(FileFailure) -> Bool {
    var offset = offset
    for _ in 0..<1000 {
      guard let chunk = try chunk(at: offset), let next = next(after: chunk) else { return false }
      // The last byte of padding is often forgotten.
      if next == byteCount || end(of: chunk) == byteCount { return true }
      offset = next
    }
    return false
  }

  /// Whether what follows from `offset` on is no part of the file: ID3 tags, a further file of the
  /// kind of WAV, or text. Samples are none of these.
  func isForeign(from offset: Int) throws(FileFailure) -> Bool {
    let count = byteCount - offset
    let head = try file.bytes(at: offset, count: min(max(0, count), 16))
    if count == ID3Head.closingByteCount, head.starts(with: "TAG".utf8) { return true }
    if ID3Head(head) != nil { return true }
    if ["RIFF", "RIFX", "RF64"].contains(head.identifier(at: 0)), head.identifier(at: 8) == "WAVE" {
      return true
    }
    // Less than that may be text by accident.
    guard count >= Self.shortestText, head.allSatisfy(Self.isOfText) else { return false }
    var text = try file.bytes(at: offset, count: min(count, Self.longestText))
    // Its last letter may go on: it has at most four bytes.
    for _ in 0..<3 where text.count < count && text.last.map({ $0 >= 0x80 }) == true {
      text.removeLast()
    }
    return text.allSatisfy(Self.isOfText) && String(validating: text, as: UTF8.self) != nil
  }

  /// Whether a byte of UTF-8 is no control character, but for those that part words and lines.
  private static func isOfText(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) || byte >= 0x80 || [9, 10, 13].contains(byte)
  }

  private static var shortestText: Int { 8 }
  private static var longestText: Int { 4096 }
}
