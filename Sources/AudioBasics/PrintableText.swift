/// Text from outside, such as names, tags and the answers of servers, made fit to stand in a line.
extension String {
  /// In one line, without what acts on a terminal, and not endless.
  package var printable: String { printable(atMost: 2048) }

  /// The same with at most `limit` Unicode scalars: of what is longer the middle is left out.
  ///
  /// Line breaks become blanks. Control characters, those that turn the direction of what follows,
  /// and those that are not seen become question marks.
  package func printable(atMost limit: Int) -> String {
    if utf8.count <= limit, utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return self }
    var text = ""
    // What is cut is not looked at: it may be endless.
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
  /// Whether it shows as itself wherever it stands, and acts on nothing.
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

  /// Character that is printed in its place.
  fileprivate func printed(between earlier: Unicode.Scalar, and later: Unicode.Scalar)
    -> Unicode.Scalar
  {
    if isPrintable { return self }
    switch value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: return " "
    // Persian and Indic names and emoji need the joiners; between ASCII letters they only deceive.
    case 0x200C...0x200D where !earlier.isASCII && !later.isASCII: return self
    default: return "?"
    }
  }
}
