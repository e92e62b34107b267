/// A parser that separates the titles in the byte stream of a radio station from the audio. A title
/// block follows each `interval` bytes of audio. Its first byte gives its length in units of 16
/// bytes, which is usually 0.
struct ICYMetadata {
  private let interval: Int
  private var soundLeft: Int
  /// The remaining bytes of the title block; nil before its first byte.
  private var textLeft: Int?
  private var text: [UInt8] = []

  init(interval: Int) {
    self.interval = interval
    soundLeft = interval
  }

  /// The kind and number of the next bytes, which is at least 1.
  enum Part {
    /// A number of bytes of audio.
    case sound(Int)
    /// A number of bytes of a title block, and the title if the block ends with them.
    case announcement(Int, title: String?)
  }

  /// Parses the beginning of `bytes` and advances past it.
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

  /// Returns the title in `StreamTitle='It's me';StreamUrl='';`; nil if there is none.
  static func title(in bytes: [UInt8]) -> String? {
    let text = String(fromNetwork: bytes.prefix { $0 != 0 })
    guard let key = text.firstRange(of: "StreamTitle='") else { return nil }
    let title = text[key.upperBound...]
    // An apostrophe within the title is not followed by a semicolon.
    let end = title.indices.first {
      title[$0] == "'" && [nil, ";"].contains(title[$0...].dropFirst().first)
    }
    return String(title[..<(end ?? title.endIndex)]).trimmed
  }
}

/// The titles that a station has announced, each with the offset in the audio data from which it
/// applies.
struct StationTitles {
  private var titles: [(start: Int, text: String)] = []
  /// The maximum number of later titles that are stored.
  private static let maximumCount = 64

  /// Sets the name of the station, which applies until the first title.
  mutating func begin(with name: String?) {
    if let name, titles.isEmpty { titles.append((0, name)) }
  }

  /// Returns the title at the offset `position`; nil if there is none.
  func title(at position: Int) -> String? {
    titles.last { $0.start <= position }?.text
  }

  /// Adds the title `text` from offset `start` on, and removes titles that no longer apply at
  /// offset `reader`.
  mutating func add(_ text: String, from start: Int, reader: Int) {
    while titles.count > 1, titles[1].start <= reader { titles.removeFirst() }
    if titles.count > Self.maximumCount { titles.removeLast() }
    titles.append((start, text))
  }
}
