import AudioBasics
import AudioFiles

/// A value as JSON (RFC 8259). Written here because Foundation's encoder would double the tool's
/// memory.
enum JSON {
  case string(String)
  /// A number, of which six digits behind the point are written at most.
  case number(Double)
  /// A number with `digits` digits behind the point.
  case fixed(Double, digits: Int)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSON])
  case object(KeyValuePairs<String, JSON>)
  case fields([(String, JSON)])

  /// Numbers with at most `digits` digits behind the point.
  static func rounded(_ value: Double, _ digits: Int = 2) -> JSON {
    let scale = digits == 2 ? 100.0 : (0..<digits).reduce(1.0) { power, _ in power * 10 }
    return .number((value * scale).rounded() / scale)
  }

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
    case .number(let value): Self.write(value, to: &text)
    case .fixed(let value, let digits): Self.write(value, digits: digits, to: &text)
    case .integer(let value): Self.write(value, to: &text)
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .null: text += "null".utf8
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        value.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let pairs): Self.write(pairs.lazy.map { ($0.key, $0.value) }, to: &text)
    case .fields(let pairs): Self.write(pairs, to: &text)
    }
  }

  private static func write(_ pairs: some Sequence<(String, JSON)>, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "{"))
    var isFirst = true
    for (key, value) in pairs {
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      quote(key, to: &text)
      text.append(UInt8(ascii: ":"))
      value.write(to: &text)
    }
    text.append(UInt8(ascii: "}"))
  }

  private static func write(_ value: Double, to text: inout [UInt8]) {
    guard value.isFinite else {
      text += "null".utf8
      return
    }
    // Larger numbers have no more digits there than that.
    let value = abs(value) < 1e10 ? (value * 1e6).rounded() / 1e6 : value
    if value == value.rounded() && abs(value) < 1e15 {
      write(Int(clamping: value), to: &text)
    } else {
      text += value.description.utf8
    }
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

  /// By integers, for events that come ten times a second.
  private static func write(_ value: Double, digits: Int, to text: inout [UInt8]) {
    guard abs(value) < 1e9 else { return write(value, to: &text) }
    var scale: UInt = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int(rounding: value * Double(scale))
    if scaled < 0 { text.append(UInt8(ascii: "-")) }
    write(scaled.magnitude / scale, to: &text)
    let rest = scaled.magnitude % scale
    guard rest > 0 else { return }
    text.append(UInt8(ascii: "."))
    write(rest, digits: digits, to: &text)
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

/// An event for a script: an object in a line of its own that begins with its name. All that is
/// written to standard output with --json is one.
struct Event {
  /// The event as JSON.
  let json: JSON

  /// The event `name`.
  init(_ name: String, _ fields: [(String, JSON)]) {
    json = .fields([("event", .string(name))] + fields)
  }

  /// The same of pairs.
  init(_ name: String, _ fields: KeyValuePairs<String, JSON>) {
    self.init(name, fields.map { ($0.key, $0.value) })
  }

  /// The last line of a command.
  static func summary(_ fields: [(String, JSON)]) -> Event { Event("summary", fields) }

  /// How far `what` has come, of 1, and what else is known of it.
  static func progress(_ done: Double, _ what: String, _ fields: [(String, JSON)] = []) -> Event {
    Event("progress", [("done", .rounded(done, 4)), ("what", .string(what))] + fields)
  }
}
