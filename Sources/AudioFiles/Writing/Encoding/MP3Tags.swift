import Glibc

/// The encoding of the tags of an MP3 file. libsndfile passes texts to LAME as ISO 8859-1, although
/// they are UTF-8.
///
/// The tags are rewritten in place: the one before the audio as ID3v2.4 (id3.org: ID3 tag version
/// 2.4.0, structure and native frames), in which texts are UTF-8, and the one after the audio,
/// ID3v1, in ISO 8859-1.
struct MP3Tags {
  private let tags: SoundFileTags
  /// Whether the tag before the audio is still to be rewritten.
  private var isPending = true

  /// Returns nil if all texts are ASCII, which needs no other encoding.
  init?(_ tags: SoundFileTags) {
    guard tags.nonempty.contains(where: { !$0.text.utf8.allSatisfy { $0 < 0x80 } }) else {
      return nil
    }
    self.tags = tags
  }

  /// LAME writes the tag before the audio only if a text has more bytes than this.
  private static let maximumShortByteCount = 30

  /// The tags for LAME, with a comment so long that it writes the tag before the audio.
  var padded: SoundFileTags {
    var padded = tags
    let comment = tags.comment ?? ""
    let missing = max(0, Self.maximumShortByteCount + 1 - comment.utf8.count)
    padded.comment = comment + String(repeating: " ", count: missing)
    return padded
  }

  /// Rewrites the tag before the audio as soon as it is in the file.
  mutating func rewriteBeginning(_ descriptor: Int32) throws(SystemError) {
    guard isPending,
      let head = ID3Head(OutputBytes.bytes(at: 0, count: ID3Head.byteCount, of: descriptor))
    else { return }
    let tag = OutputBytes.bytes(at: 0, count: head.byteCount, of: descriptor)
    guard tag.count == head.byteCount else { return }
    isPending = false
    guard let changed = Self.withUTF8(tag) else { return }
    try OutputBytes.write(changed, at: 0, to: descriptor)
  }

  /// Returns an ID3v2.3 tag as ID3v2.4 of the same length, in which texts beyond ASCII are UTF-8;
  /// nil if it has another version, or is damaged.
  static func withUTF8(_ tag: [UInt8]) -> [UInt8]? {
    guard tag.count >= ID3Head.byteCount, tag[3] == 3, tag[5] == 0 else { return nil }
    var changed = Array(tag[..<3]) + [4, 0] + Array(tag[5..<ID3Head.byteCount])
    var offset = ID3Head.byteCount
    while let name = tag.identifier(at: offset),
      let size = tag.integer(at: offset + 4, 4, bigEndian: true)
    {
      let end = offset + ID3Head.byteCount + size
      guard size > 0, end <= tag.count else { return nil }
      let body = Array(tag[offset + ID3Head.byteCount..<end])
      offset = end
      changed += frame(name == "TYER" ? "TDRC" : name, body)
    }
    return changed + [UInt8](repeating: 0, count: tag.count - changed.count)
  }

  /// Returns a frame of ID3v2.4 with this body, in which texts beyond ASCII become UTF-8, and
  /// comments end without spaces.
  private static func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
    var body = body
    // The encoding, the language and the zero after an empty description precede a comment.
    if name == "COMM" {
      while body.count > 5, body.last == UInt8(ascii: " ") { body.removeLast() }
      if body.count <= 5 { return [] }
    }
    let isText = name.hasPrefix("T") || name == "COMM"
    if isText, body[0] == 0, body.contains(where: { $0 >= 0x80 }) { body[0] = 3 }
    // The sizes have seven bits in each byte.
    let size = stride(from: 21, through: 0, by: -7).map { UInt8(body.count >> $0 & 0x7F) }
    return Array(name.utf8) + size + [0, 0] + body
  }

  /// Rewrites the tag after the audio, in which characters that ISO 8859-1 lacks become question
  /// marks. Call it when the file is complete.
  func rewriteEnd(_ descriptor: Int32) throws(SystemError) {
    let start = lseek(descriptor, 0, SEEK_END) - ID3Head.closingByteCount
    guard start > 0,
      case let tag = OutputBytes.bytes(at: start, count: ID3Head.closingByteCount, of: descriptor),
      tag.starts(with: "TAG".utf8)
    else { return }
    let texts = [tags.title, tags.artist, tags.album].map { Self.latin($0, byteCount: 30) }
    try OutputBytes.write(texts.flatMap { $0 }, at: start + 3, to: descriptor)
    try OutputBytes.write(Self.latin(tags.comment, byteCount: 30), at: start + 97, to: descriptor)
  }

  /// Returns the beginning of a text in ISO 8859-1, followed by zeros.
  private static func latin(_ text: String?, byteCount: Int) -> [UInt8] {
    let letters = (text ?? "").unicodeScalars.prefix(byteCount).map {
      UInt8(exactly: $0.value) ?? UInt8(ascii: "?")
    }
    return letters + [UInt8](repeating: 0, count: byteCount - letters.count)
  }
}
