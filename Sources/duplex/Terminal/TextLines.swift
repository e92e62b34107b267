/// A sentence in lines of at most `width` columns, broken between words.
struct TextLines: Sequence {
  private let lines: [String]

  /// `first` stands before the first line, `next` before each other; a word that is longer than a line
  /// has one of its own.
  init(_ text: String, width: Int, first: String = "", next: String = "") {
    var lines: [String] = []
    var line = first
    var isEmpty = true
    for word in text.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = next
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    self.lines = lines + [line]
  }

  func makeIterator() -> IndexingIterator<[String]> { lines.makeIterator() }
}
