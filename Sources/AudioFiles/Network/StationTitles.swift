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

  /// Kind of the next bytes, of which there is at least one.
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

/// Titles that a station has announced, each with the byte of its sound from which on it holds.
struct StationTitles {
  private var titles: [(start: Int, text: String)] = []
  /// Of those that come later, at most.
  private static let most = 64

  /// The station's `name` holds until it says what it plays.
  mutating func begin(with name: String?) {
    if let name, titles.isEmpty { titles.append((0, name)) }
  }

  /// The one that holds at the byte `place`; nil before the first.
  func title(at place: Int) -> String? {
    titles.last { $0.start <= place }?.text
  }

  /// From the byte `start` on `text` holds. Forgets what no longer holds at the byte `reader`.
  mutating func add(_ text: String, from start: Int, reader: Int) {
    while titles.count > 1, titles[1].start <= reader { titles.removeFirst() }
    if titles.count > Self.most { titles.removeLast() }
    titles.append((start, text))
  }
}
