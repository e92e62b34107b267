/// A time in the format of clocks: `3:12`, `1:03:12`.
struct ClockTime {
  let text: String

  /// Formats `seconds`, with tenths if `showsTenths` is true.
  init(_ seconds: Double, showsTenths: Bool = false) {
    let tenths = Int(clamping: max(0, seconds) * 10)
    let whole = tenths / 10
    func padded(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let minutes = whole / 60 % 60
    var text = whole >= 3600 ? "\(whole / 3600):\(padded(minutes))" : "\(minutes)"
    text += ":" + padded(whole % 60)
    if showsTenths { text += ".\(tenths % 10)" }
    self.text = text
  }
}

/// A text in lines of at most `width` columns, broken between words.
struct TextLines: Sequence {
  private let lines: [String]

  /// Breaks `text` into lines. `first` is put before the first line and `next` before each other
  /// line. A word that is longer than a line is alone in its line.
  init(_ text: String, width: Int, first: String = "", next: String = "") {
    var lines: [String] = []
    var line = first
    var isEmpty = true
    for word in text.split(separator: " ") {
      if !isEmpty, line.columns + 1 + word.columns > width {
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

extension String {
  /// Returns the text with line breaks in place of the blanks after which it would be wider than
  /// `columns`. The following lines are indented by two more columns.
  func wrapped(to columns: Int) -> String {
    let indent = prefix { $0 == " " } + "  "
    var lines: [Substring] = []
    var rest = self[...]
    while rest.columns > columns {
      let words = rest.drop { $0 == " " }
      let room = max(0, columns - (rest.columns - words.columns))
      // The blank at the break may be just outside of the line.
      var line = words.prefix(columns: room)
      if line.endIndex < words.endIndex { line = words[...line.endIndex] }
      guard let end = line.lastIndex(of: " ") ?? words.firstIndex(of: " ") else {
        break
      }
      lines.append(rest[..<end])
      rest = indent + rest[end...].drop { $0 == " " }
    }
    return (lines + [rest]).joined(separator: "\n")
  }

  /// Returns the text, shortened and with dots if it is wider than `width` columns.
  func truncated(to width: Int) -> String {
    columns <= width ? self : prefix(columns: width - 3) + "..."
  }

  /// Returns the text with blanks after it up to `width` columns.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - columns))
  }

  /// Returns the text with blanks before it up to `width` columns.
  func aligned(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - columns)) + self
  }
}
