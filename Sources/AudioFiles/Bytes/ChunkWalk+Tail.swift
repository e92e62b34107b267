/// Search for data that may follow the samples of a chunk-based file.
extension ChunkWalk {
  /// Returns whether a chunk begins at `offset`, or data that other programs append to a complete
  /// file.
  func beginsTail(at offset: Int) throws(FileFailure) -> Bool {
    if try beginsChunk(at: offset) { return true }
    return try isForeign(from: offset)
  }

  /// Returns whether a chunk begins at `offset`: either one with a known identifier, or one from
  /// which a sequence of chunks leads to the end of the file. Four printable letters alone are no
  /// evidence: they occur by chance in every long recording.
  func beginsChunk(at offset: Int) throws(FileFailure) -> Bool {
    guard let chunk = try chunk(at: offset) else { return false }
    if style.knownIdentifiers.contains(chunk.identifier) { return true }
    return try leadsToEnd(from: offset)
  }

  /// Returns whether complete chunks follow one another from `offset` to the last byte.
  private func leadsToEnd(from offset: Int) throws(FileFailure) -> Bool {
    var offset = offset
    for _ in 0..<1000 {
      guard let chunk = try chunk(at: offset), let next = next(after: chunk) else { return false }
      // Many programs omit the padding byte after the last chunk.
      if next == byteCount || end(of: chunk) == byteCount { return true }
      offset = next
    }
    return false
  }

  /// Returns whether the data from `offset` on is not part of the file: ID3 tags, another file of
  /// the WAV family, or text. Samples match none of these.
  func isForeign(from offset: Int) throws(FileFailure) -> Bool {
    let count = byteCount - offset
    let head = try file.bytes(at: offset, count: min(max(0, count), 16))
    if count == ID3Head.closingByteCount, head.starts(with: "TAG".utf8) { return true }
    if ID3Head(head) != nil { return true }
    if SoundContainer(head: head)?.isWave == true { return true }
    // Fewer bytes may look like text by chance.
    guard count >= Self.minimumTextLength, head.allSatisfy(Self.isOfText) else { return false }
    var text = try file.bytes(at: offset, count: min(count, Self.maximumTextLength))
    // The last character may be cut off by the limit: a character has at most four bytes.
    for _ in 0..<3 where text.count < count && text.last.map({ $0 >= 0x80 }) == true {
      text.removeLast()
    }
    return text.allSatisfy(Self.isOfText) && String(validating: text, as: UTF8.self) != nil
  }

  /// Returns whether a byte may occur in UTF-8 text: not a control character other than tab, line
  /// feed and carriage return.
  private static func isOfText(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) || byte >= 0x80 || [9, 10, 13].contains(byte)
  }

  private static var minimumTextLength: Int { 8 }
  private static var maximumTextLength: Int { 4096 }
}
