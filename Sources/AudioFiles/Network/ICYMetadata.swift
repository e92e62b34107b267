/// Takes the announcements out of a radio station's bytes: after each `interval` bytes of sound
/// comes one of 16 times as many bytes as its first byte says, mostly none.
struct ICYMetadata {
  private let interval: Int
  private var soundLeft: Int
  /// Bytes of the announcement still to come; nil before its first byte.
  private var textLeft: Int?
  private var text: [UInt8] = []

  init(interval: Int) {
    self.interval = interval
    soundLeft = interval
  }

  /// What the next bytes are, of which there is at least one.
  enum Part {
    /// A number of bytes of sound.
    case sound(Int)
    /// A number of bytes of an announcement; the title that it ends with.
    case announcement(Int, title: String?)
  }

  /// Looks at the beginning of `bytes` and moves on behind it.
  mutating func next(_ bytes: UnsafeRawBufferPointer) -> Part {
    if soundLeft > 0 {
      let count = min(soundLeft, bytes.count)
      soundLeft -= count
      return .sound(count)
    }
    guard let left = textLeft else {
      textLeft = Int(bytes[0]) * 16
      text = []
      return .announcement(1, title: finish())
    }
    let count = min(left, bytes.count)
    text += bytes.prefix(count)
    textLeft = left - count
    return .announcement(count, title: finish())
  }

  private mutating func finish() -> String? {
    guard textLeft == 0 else { return nil }
    textLeft = nil
    soundLeft = interval
    return Self.title(in: text)
  }

  /// The title in `StreamTitle='It's me';StreamUrl='';`.
  static func title(in bytes: [UInt8]) -> String? {
    let text = Array(String(fromNetwork: bytes.prefix { $0 != 0 }))
    let key = Array("StreamTitle='")
    guard text.count >= key.count,
      let start = (0...text.count - key.count).first(where: {
        Array(text[$0..<$0 + key.count]) == key
      })
    else { return nil }
    let title = text[(start + key.count)...]
    // An apostrophe within the title is not followed by a semicolon.
    let end =
      title.indices.first {
        title[$0] == "'" && (title.index(after: $0) == title.endIndex || title[$0 + 1] == ";")
      } ?? title.endIndex
    return String(title[..<end]).trimmed
  }
}
