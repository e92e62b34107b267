import AudioBasics
import AudioFiles

/// A value as JSON (RFC 8259). Written here because Foundation's encoder would double the tool's
/// memory, and its decoder would take 1.4 MiB more for a settings file.
enum JSON: Sendable {
  case string(String)
  /// A number, of which that many digits behind the point are written at most.
  case number(Double, digits: Int)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSON])
  case object(Fields)

  /// The text, without line breaks.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text as UTF-8. Events come ten times a second: bytes cost a third of what strings do.
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

  /// At least `digits` digits, zeros before the others.
  private static func write(_ value: UInt, digits: Int = 1, to text: inout [UInt8]) {
    let first = text.count
    var rest = value
    repeat {
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0 || text.count - first < digits
    text[first...].reverse()
  }

  /// By integers, for events that come ten times a second. What is no number is null.
  private static func write(_ value: Double, digits: Int, to text: inout [UInt8]) {
    guard value.isFinite else {
      text += "null".utf8
      return
    }
    var scale: UInt = 1
    for _ in 0..<digits { scale *= 10 }
    // Larger numbers have no more digits behind the point than that.
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
    // Names of ours need no escape, and most of users' do not either.
    if string.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) {
      text += string.utf8
    } else {
      var escaped = ""
      for scalar in FileName.shown(string).unicodeScalars { escape(scalar, to: &escaped) }
      text += escaped.utf8
    }
    text.append(UInt8(ascii: "\""))
  }

  /// What would not show as itself is written in digits: the text means the same to a program, and
  /// does nothing to a terminal that it is shown on.
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
extension Fields: JSONValue { var json: JSON { .object(self) } }
extension Array: JSONValue where Element: JSONValue { var json: JSON { .array(map { $0.json }) } }
/// A missing value is written as null.
extension Optional: JSONValue where Wrapped: JSONValue {
  var json: JSON { self?.json ?? .null }
}
/// Six digits behind the point.
extension Double: JSONValue {
  var json: JSON { digits(6) }

  /// With at most that many digits behind the point.
  func digits(_ count: Int) -> JSON { .number(self, digits: count) }

  /// With `digits` digits behind the point at most, for a person.
  func shown(_ digits: Int) -> String {
    isFinite ? JSON.number(self, digits: digits).text : isNaN ? "no number" : "infinite"
  }

  /// As a level in dB, for a person: that of silence, which events tell as -200, is "-inf".
  var shownLevel: String { self <= -200 ? "-inf" : shown(1) }
}

/// The members of an object, in their order.
struct Fields: ExpressibleByDictionaryLiteral, Sendable {
  private(set) var members: [(name: String, value: JSON)]

  init(dictionaryLiteral elements: (String, any JSONValue)...) {
    members = elements.map { ($0, $1.json) }
  }

  init(_ members: [(name: String, value: JSON)]) { self.members = members }

  static func + (first: Fields, second: Fields) -> Fields { Fields(first.members + second.members) }

  static func += (first: inout Fields, second: Fields) { first.members += second.members }
}

/// An event for a script: an object in a line of its own that begins with its name. All that is
/// written to standard output with --json is one.
struct Event {
  /// The event as JSON.
  let json: JSON

  /// The event `name`.
  init(_ name: String, _ fields: Fields) {
    json = .object(Fields([("event", .string(name))] + fields.members))
  }

  /// The last line of a command.
  static func summary(_ fields: Fields) -> Event { Event("summary", fields) }

  /// How far `what` has come, of 1, and what else is known of it.
  static func progress(_ done: Double, _ what: String, _ fields: Fields = [:]) -> Event {
    Event("progress", ["done": done.digits(4), "what": what] + fields)
  }
}
