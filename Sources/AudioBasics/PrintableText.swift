/// Text from external sources, such as names, tags and replies of servers, made safe to print in
/// one line.
extension String {
  /// The text in one line, without characters that control a terminal, and with at most 2048
  /// Unicode scalars. Of the marks on a character, such as accents, 30 remain: the limit of the
  /// Stream-Safe Text Format (Unicode Standard Annex 15).
  package var printable: String {
    let line = printable(atMost: 2048)
    // Most text has no such character.
    guard line.contains(where: { $0.unicodeScalars.count > 30 }) else { return line }
    var text = String.UnicodeScalarView()
    var markCount = 0
    for scalar in line.unicodeScalars {
      markCount = scalar.isMark ? markCount + 1 : 0
      if markCount <= 30 { text.append(scalar) }
    }
    return String(text)
  }

  /// The text in one line, at most 200 Unicode scalars, for a sentence that quotes it.
  package var excerpt: String { printable(atMost: 200) }

  /// Returns the text in one line with at most `limit` Unicode scalars. The middle of longer text
  /// is left out.
  ///
  /// Line breaks become spaces. Control characters, characters that change the text direction, and
  /// invisible characters become question marks.
  package func printable(atMost limit: Int) -> String {
    if utf8.count <= limit, utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return self }
    var text = ""
    // The scalars left out are not read: there may be any number of them.
    let head = unicodeScalars.prefix(limit)
    let isWhole = head.endIndex == unicodeScalars.endIndex
    let tail = unicodeScalars.suffix(isWhole ? 0 : limit / 4)
    Self.append(isWhole ? head : head.dropLast(limit / 4 + 1), to: &text)
    if !isWhole { text += "\u{2026}" }
    Self.append(tail, to: &text)
    return text
  }

  private static func append(_ scalars: Substring.UnicodeScalarView, to text: inout String) {
    var earlier: Unicode.Scalar = " "
    for (index, scalar) in zip(scalars.indices, scalars) {
      let next = scalars.index(after: index)
      let later = next < scalars.endIndex ? scalars[next] : " "
      text.unicodeScalars.append(scalar.printed(between: earlier, and: later))
      earlier = scalar
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is displayed as itself in any position and controls nothing.
  package var isPrintable: Bool {
    if value < 0x7F { return value >= 0x20 }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: return false
    default: break
    }
    // Variation selectors belong to the emoji before them.
    if properties.isVariationSelector { return true }
    return !properties.isDefaultIgnorableCodePoint && !properties.isNoncharacterCodePoint
  }

  /// Whether the scalar is drawn on the character before it.
  fileprivate var isMark: Bool {
    !isASCII && [.nonspacingMark, .enclosingMark].contains(properties.generalCategory)
  }

  /// Returns the character that is printed for this one.
  fileprivate func printed(between earlier: Unicode.Scalar, and later: Unicode.Scalar)
    -> Unicode.Scalar
  {
    if isPrintable { return self }
    switch value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: return " "
    // Persian and Indic names and emoji need the joiners; next to ASCII letters they are refused,
    // because they make different texts look alike.
    case 0x200C...0x200D where !earlier.isASCII && !later.isASCII: return self
    default: return "?"
    }
  }
}
