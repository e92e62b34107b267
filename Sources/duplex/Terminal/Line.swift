/// A line of text for a person. Literals in the source code are printed unchanged. Text from
/// outside is cleaned of characters that could control a terminal or imitate another line.
///
/// All text for a terminal is of this type: it is written as a literal, with interpolations for
/// text from outside. Only a literal can contain an escape sequence.
struct Line: ExpressibleByStringInterpolation, Sendable {
  /// A literal in the source code, which cannot be created at run time.
  typealias StringLiteralType = StaticString

  private(set) var text: String

  init(stringLiteral literal: StaticString) { text = literal.description }

  init(stringInterpolation parts: StringInterpolation) { text = parts.text }

  /// Creates a text of several lines without text from outside, such as the parser's help.
  init(trusting text: String) { self.text = text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

    mutating func appendInterpolation(_ line: Line) { text += line.text }

    mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      text += value.description.printable
    }
  }

  static func + (first: Line, second: Line) -> Line {
    var line = first
    line.text += second.text
    return line
  }
}
