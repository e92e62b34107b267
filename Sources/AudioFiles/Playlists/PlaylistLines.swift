/// The lines of a playlist that hold something, without blanks around them, or a mark of the byte order
/// before them.
struct PlaylistLines {
  private let text: [UInt8]
  private var place: Int

  init(_ text: [UInt8]) {
    self.text = text
    place = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func next() -> ArraySlice<UInt8>? {
    while place < text.endIndex {
      let end = text[place...].firstIndex { $0 == 10 || $0 == 13 } ?? text.endIndex
      var line = text[place..<end]
      place = end + 1
      while let first = line.first, Self.isBlank(first) { line.removeFirst() }
      while let last = line.last, Self.isBlank(last) { line.removeLast() }
      if !line.isEmpty { return line }
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
