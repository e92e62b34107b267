import AudioFiles

/// A JSON value (RFC 8259). It is implemented here because Foundation's encoder would double the
/// memory of the tool, and its decoder would use 1.4 MiB more for a settings file.
enum JSON: Sendable {
  case string(String)
  /// A number, and the maximum number of decimal places that are written.
  case number(Double, digits: Int)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSON])
  case object(Fields)

  /// The JSON text, without line breaks.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text as UTF-8. Events are written ten times a second, and bytes cost a third of strings.
  private var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    write(to: &bytes)
    return bytes
  }

  private func write(to text: inout [UInt8]) {
    switch self {
    case .string(let value): Self.quote(value, to: &text)
    case .number(let value, let digits): Self.write(value, digits: digits, to: &text)
    case .integer(let value): Self.write(value, to: &text)
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .null: text += "null".utf8
    case .array(let values):
      Self.write(values, between: "[]", to: &text) { value, text in value.write(to: &text) }
    case .object(let fields):
      Self.write(fields.members, between: "{}", to: &text) { member, text in
        Self.quote(member.name, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], between brackets: StaticString, to text: inout [UInt8],
    _ write: (Element, inout [UInt8]) -> Void
  ) {
    let brackets = Array("\(brackets)".utf8)
    text.append(brackets[0])
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      write(element, &text)
    }
    text.append(brackets[1])
  }

  private static func write(_ value: Int, to text: inout [UInt8]) {
    if value < 0 { text.append(UInt8(ascii: "-")) }
    write(value.magnitude, to: &text)
  }

  /// Writes `value` with at least `digits` digits, padded with zeros on the left.
  private static func write(_ value: UInt, digits: Int = 1, to text: inout [UInt8]) {
    let first = text.count
    var rest = value
    repeat {
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0 || text.count - first < digits
    text[first...].reverse()
  }

  /// Writes a number with integer arithmetic, for events that are written ten times a second.
  /// Values that are not finite become null.
  private static func write(_ value: Double, digits: Int, to text: inout [UInt8]) {
    guard value.isFinite else {
      text += "null".utf8
      return
    }
    var scale: UInt = 1
    for _ in 0..<digits { scale *= 10 }
    // The precision of larger numbers ends before the last decimal place.
    guard abs(value) * Double(scale) < 9e15 else {
      text += value.description.utf8
      return
    }
    let scaled = Int(rounding: value * Double(scale))
    if scaled < 0 { text.append(UInt8(ascii: "-")) }
    write(scaled.magnitude / scale, to: &text)
    let rest = scaled.magnitude % scale
    guard rest > 0 else { return }
    text.append(UInt8(ascii: "."))
    write(rest, digits: digits, to: &text)
    while text.last == UInt8(ascii: "0") { text.removeLast() }
  }

  private static func quote(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    // Most strings need no escape sequences.
    if string.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) {
      text += string.utf8
    } else {
      var escaped = ""
      for scalar in FileName.shown(string).unicodeScalars { escape(scalar, to: &escaped) }
      text += escaped.utf8
    }
    text.append(UInt8(ascii: "\""))
  }

  /// Writes a scalar that is not printable as an escape sequence in hexadecimal digits. The text
  /// has the same meaning for a program, and has no effect on a terminal that shows it.
  private static func escape(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case _ where scalar.isPrintable: text.unicodeScalars.append(scalar)
    default:
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let hex = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      }
    }
  }
}

/// A value that a field of an event can have.
protocol JSONValue {
  var json: JSON { get }
}

extension JSON: JSONValue { var json: JSON { self } }
extension String: JSONValue { var json: JSON { .string(self) } }
extension Int: JSONValue { var json: JSON { .integer(self) } }
extension Bool: JSONValue { var json: JSON { .bool(self) } }
extension Array: JSONValue where Element: JSONValue { var json: JSON { .array(map { $0.json }) } }
/// The JSON of the value, or null for nil.
extension Optional: JSONValue where Wrapped: JSONValue {
  var json: JSON { self?.json ?? .null }
}
/// The JSON of a number, with up to six decimal places.
extension Double: JSONValue {
  var json: JSON { digits(6) }

  /// Returns the JSON of the number with at most `count` decimal places.
  func digits(_ count: Int) -> JSON { .number(self, digits: count) }

  /// Returns the number as text with at most `digits` decimal places.
  func shown(_ digits: Int) -> String {
    isFinite ? JSON.number(self, digits: digits).text : isNaN ? "no number" : "infinite"
  }

  /// The level in dB as text: "-inf" for silence, which is -200 in events.
  var shownLevel: String { self <= -200 ? "-inf" : shown(1) }
}
