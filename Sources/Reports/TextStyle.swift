/// How a line of text looks.
struct TextStyle: Sendable {
  /// Height of the font, in pixels.
  var size: Double
  var paint: Paint
  var isBold = false

  static let title = TextStyle(size: 21, paint: .ink, isBold: true)
  static let headline = TextStyle(size: 27, paint: .ink, isBold: true)
  static let subtitle = TextStyle(size: 13, paint: .muted)
  static let panelTitle = TextStyle(size: 14, paint: .ink, isBold: true)
  static let value = TextStyle(size: 13, paint: .ink)
  static let caption = TextStyle(size: 12, paint: .muted)
  static let tick = TextStyle(size: 11, paint: .muted)
  static let mark = TextStyle(size: 11, paint: .mark, isBold: true)

  /// Which point of the text its position names.
  enum Anchor: String {
    case start, middle, end
  }
}

extension TextStyle {
  /// A width that `text` is unlikely to exceed in any system font, in pixels.
  func width(of text: String) -> Double {
    let letter = isBold ? 0.66 : 0.61
    let ems = text.unicodeScalars.reduce(0.0) { sum, scalar in
      sum + (scalar.value < 0x2E80 ? letter : 1)
    }
    return ems * size
  }

  /// This style made smaller, down to `smallest`, until `text` fits into `width`.
  func shrunk(toFit text: String, width: Double, smallest: Double) -> TextStyle {
    var style = self
    while style.size > smallest, style.width(of: text) > width { style.size -= 1 }
    return style
  }

  /// `text`, or as much of its beginning as fits into `width`, and an ellipsis.
  func truncated(_ text: String, width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var kept = Substring(text.prefix(Int(clamping: min(width, 4000))))
    while !kept.isEmpty, self.width(of: kept + "\u{2026}") > width { kept.removeLast() }
    return kept + "\u{2026}"
  }
}
