/// Chunks as RIFF files have them: a name of four letters, a length, and what is in it, the least
/// significant byte first. After an odd length a byte follows that does not count.
extension [UInt8] {
  mutating func append(_ identifier: StaticString) {
    identifier.withUTF8Buffer { append(contentsOf: $0) }
  }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// `text` at the beginning of a field of `byteCount` bytes.
  mutating func append(_ text: String, field byteCount: Int) {
    let bytes = text.bytes(atMost: byteCount)
    self += bytes
    append(zeros: byteCount - bytes.count)
  }

  mutating func append(zeros count: Int) {
    self += [UInt8](repeating: 0, count: count)
  }

  mutating func append(chunk identifier: StaticString, _ contents: [UInt8]) {
    append(identifier)
    append(UInt32(contents.count))
    self += contents
    if contents.count % 2 == 1 { append(UInt8(0)) }
  }

  /// A chunk that means nothing, and fills `byteCount` bytes, at least eight, with its head.
  mutating func append(junk byteCount: Int) {
    append(chunk: "JUNK", [UInt8](repeating: 0, count: byteCount - 8))
  }
}

extension String {
  /// At most so many bytes of it, never half of a letter; none is zero, which ends a text.
  func bytes(atMost byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for letter in unicodeScalars where letter != "\0" {
      let more = Array(UTF8.encode(letter) ?? UTF8.encodedReplacementCharacter)
      guard bytes.count + more.count <= byteCount else { break }
      bytes += more
    }
    return bytes
  }
}
