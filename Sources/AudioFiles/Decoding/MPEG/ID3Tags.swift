/// The tags of an MP3 file: ID3v2 (2.2 to 2.4) before the audio, or ID3v1 at the end of the file.
///
/// Pictures and all other fields are skipped.
struct ID3Tags {
  private(set) var tags = SoundFileTags()

  /// Reads the tags at the position of `bytes` and moves after them. Returns nil if there are none.
  init?(readingFrom bytes: BufferedBytes) throws(FileFailure) {
    guard let head = try Self.head(in: bytes) else { return nil }
    let end = bytes.position + head.byteCount
    bytes.position += ID3Head.byteCount
    if head.isExtended {
      let size = try bytes.peek(4)
      bytes.position += head.version == 4 ? size.syncSafeNumber : 4 + size.number(at: 0)
    }
    while bytes.position < end {
      guard let count = try readFrame(head, bytes) else { break }
      bytes.position += count
    }
    bytes.position = end
  }

  /// Moves after the tags at the position of `bytes`. Returns nil if there are none.
  init?(skippedIn bytes: BufferedBytes) throws(FileFailure) {
    guard let head = try Self.head(in: bytes) else { return nil }
    bytes.position += head.byteCount
  }

  /// Reads the 128 bytes at the end of `bytes`, and restores the position. Returns nil if there are
  /// no tags.
  init?(endingIn bytes: BufferedBytes) throws(FileFailure) {
    guard bytes.isSeekable, let end = bytes.byteCount, end > ID3Head.closingByteCount
    else { return nil }
    let place = bytes.position
    defer { bytes.position = place }
    bytes.position = end - ID3Head.closingByteCount
    let block = try bytes.peek(ID3Head.closingByteCount)
    guard block.count == ID3Head.closingByteCount, block.holds("TAG", at: 0) else { return nil }
    func text(_ offset: Int, _ count: Int) -> String? {
      Self.text(block[offset..<offset + count], encoding: 0)
    }
    tags.title = text(3, 30)
    tags.artist = text(33, 30)
    tags.album = text(63, 30)
    tags.date = text(93, 4)
    tags.comment = text(97, 28)
  }

  private static func head(in bytes: BufferedBytes) throws(FileFailure) -> ID3Head? {
    ID3Head(try bytes.peek(ID3Head.byteCount))
  }

  /// Reads the ID3 frame at the position and returns its size in bytes; nil after the last frame.
  private mutating func readFrame(
    _ head: ID3Head, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int? {
    let nameCount = head.version == 2 ? 3 : 4
    let headCount = head.version == 2 ? 6 : 10
    let frame = try bytes.peek(headCount)
    guard frame.count == headCount, frame[0] != 0 else { return nil }
    let name = String(decoding: frame[..<nameCount], as: UTF8.self)
    let size =
      head.version == 4
      ? frame[4...].syncSafeNumber : frame.number(at: nameCount, byteCount: nameCount)
    // Compressed and encrypted frames, and those with other flags, are ignored.
    let isPlain = head.version == 2 || frame[9] == 0
    guard size > 0, isPlain, let place = Self.place(of: name), tags[keyPath: place] == nil else {
      return headCount + size
    }
    let block = try bytes.peek(headCount + min(size, 4096))
    guard block.count > headCount else { return nil }
    var text = block[(headCount + 1)...]
    let encoding = block[headCount]
    if name.hasPrefix("COM") { text = Self.behindDescription(text, encoding: encoding) }
    tags[keyPath: place] = Self.text(text, encoding: encoding)
    return headCount + size
  }

  private static func place(of name: String) -> WritableKeyPath<SoundFileTags, String?>? {
    switch name {
    case "TIT2", "TT2": \.title
    case "TPE1", "TP1": \.artist
    case "TALB", "TAL": \.album
    case "TDRC", "TYER", "TYE": \.date
    case "COMM", "COM": \.comment
    default: nil
    }
  }

  /// Returns the text of a comment frame, after its three-letter language and its description.
  private static func behindDescription(
    _ text: Slice<UnsafeRawBufferPointer>, encoding: UInt8
  ) -> Slice<UnsafeRawBufferPointer> {
    let rest = text.dropFirst(3)
    guard encoding == 1 || encoding == 2 else {
      return rest.drop { $0 != 0 }.dropFirst()
    }
    var index = rest.startIndex
    while index + 1 < rest.endIndex, rest[index] != 0 || rest[index + 1] != 0 { index += 2 }
    return rest[min(index + 2, rest.endIndex)...]
  }

  /// Decodes text in ISO 8859-1 (0), UTF-16 with (1) or without (2) a byte order mark, or UTF-8
  /// (3). Text marked as ISO 8859-1 that is valid UTF-8 is decoded as UTF-8, because many programs,
  /// including libsndfile, write it in this way.
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>, encoding: UInt8) -> String? {
    var text: String
    switch encoding {
    case 1, 2:
      let isLittle = encoding == 1 && bytes.starts(with: [0xFF, 0xFE])
      let words = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
        isLittle
          ? UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index])
          : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
      }
      let units = words.drop { $0 == 0xFEFF }.prefix { $0 != 0 }
      text = String(decoding: units, as: UTF16.self)
    case 3: text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    default:
      let bytes = bytes.prefix { $0 != 0 }
      text =
        String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
    while text.last == " " { text.removeLast() }
    return text.isEmpty ? nil : text
  }
}
