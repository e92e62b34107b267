/// The chunks of a RIFF file, as far as its lengths are valid.
struct WaveChunks {
  struct Chunk {
    let name: String
    /// The position of its contents.
    let start: Int
    let bytes: [UInt8]
  }

  private(set) var chunks: [Chunk] = []
  let bytes: [UInt8]
  let isLong: Bool

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    isLong = bytes.starts(with: Array("RF64".utf8))
    let end = isLong ? Int(bytes.number(20, 8)) : Int(bytes.number(4, 4))
    var place = 12
    while place + 8 <= min(bytes.count, end + 8) {
      let name = bytes.text(place, 4)
      var count = Int(bytes.number(place + 4, 4))
      if name == "data", isLong { count = Int(bytes.number(28, 8)) }
      let contents = Array(bytes[min(place + 8, bytes.count)..<min(place + 8 + count, bytes.count)])
      chunks.append(Chunk(name: name, start: place + 8, bytes: contents))
      place += 8 + count + count % 2
    }
  }

  /// Returns the only chunk with this name and, if it is a list, this kind; nil if there is not
  /// exactly one.
  func only(_ name: String, _ kind: String = "") -> Chunk? {
    let found = chunks.filter { $0.name == name && $0.bytes.text(0, kind.utf8.count) == kind }
    return found.count == 1 ? found[0] : nil
  }

  /// The frame and the label of each marker.
  var markers: [(frame: Int, label: String)] {
    guard let cue = only("cue ")?.bytes, let list = only("LIST", "adtl")?.bytes else { return [] }
    var labels: [UInt64: String] = [:]
    var place = 4
    while place + 12 <= list.count {
      let count = Int(list.number(place + 4, 4))
      labels[list.number(place + 8, 4)] = list.text(place + 12, count - 5)
      place += 8 + count + count % 2
    }
    return (0..<Int(cue.number(0, 4))).map { index in
      let point = 4 + 24 * index
      return (Int(cue.number(point + 20, 4)), labels[cue.number(point, 4)] ?? "?")
    }
  }
}

extension [UInt8] {
  func number(_ place: Int, _ count: Int) -> UInt64 {
    guard place + count <= self.count else { return 0 }
    return self[place..<place + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns `count` bytes as text, without zeros at the end.
  func text(_ place: Int, _ count: Int) -> String {
    guard count >= 0, place + count <= self.count else { return "" }
    let bytes = self[place..<place + count]
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
