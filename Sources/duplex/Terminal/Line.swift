import AudioBasics

/// A line of text for a person: what stands in the sources as it is, and what comes from outside
/// cleaned of all that could act on a terminal or pass for another line.
///
/// Every text on its way to a terminal is one: write it as a literal, and put what comes from outside
/// in by interpolation. Only a literal can hold an escape sequence.
struct Line: ExpressibleByStringInterpolation, Sendable {
  /// A part of the sources, which cannot be made while the program runs.
  typealias StringLiteralType = StaticString

  private(set) var text: String

  init(stringLiteral literal: StaticString) { text = literal.description }

  init(stringInterpolation parts: StringInterpolation) { text = parts.text }

  /// A text of several lines that has nothing from outside in it: the argument parser's help.
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
