import AudioFiles

/// A value as JSON (RFC 8259). Written here because Foundation's encoder would double the tool's
/// memory.
enum JSON {
  case string(String)
  case number(Double)
  /// A number with so many digits behind the point.
  case fixed(Double, digits: Int)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSON])
  case object(KeyValuePairs<String, JSON>)
  case fields([(String, JSON)])

  /// One event: an object that begins with its name.
  static func event(_ name: String, _ fields: KeyValuePairs<String, JSON>) -> JSON {
    .fields([("event", .string(name))] + fields.map { ($0.key, $0.value) })
  }

  /// Several events' worth of fields as one.
  static func event(_ name: String, _ fields: [(String, JSON)]) -> JSON {
    .fields([("event", .string(name))] + fields)
  }

  /// Numbers with at most `digits` digits behind the point.
  static func rounded(_ value: Double, _ digits: Int = 2) -> JSON {
    let scale = digits == 2 ? 100.0 : (0..<digits).reduce(1.0) { power, _ in power * 10 }
    return .number((value * scale).rounded() / scale)
  }

  /// The text, without line breaks.
  var text: String {
    var text = ""
    text.reserveCapacity(256)
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .string(let value): Self.quote(value, to: &text)
    case .number(let value): Self.write(value, to: &text)
    case .fixed(let value, let digits): Self.write(value, digits: digits, to: &text)
    case .integer(let value): text += String(value)
    case .bool(let value): text += value ? "true" : "false"
    case .null: text += "null"
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let pairs): Self.write(pairs.lazy.map { ($0.key, $0.value) }, to: &text)
    case .fields(let pairs): Self.write(pairs, to: &text)
    }
  }

  private static func write(_ pairs: some Sequence<(String, JSON)>, to text: inout String) {
    text += "{"
    var isFirst = true
    for (key, value) in pairs {
      if !isFirst { text += "," }
      isFirst = false
      quote(key, to: &text)
      text += ":"
      value.write(to: &text)
    }
    text += "}"
  }

  private static func write(_ value: Double, to text: inout String) {
    guard value.isFinite else {
      text += "null"
      return
    }
    if value == value.rounded() && abs(value) < 1e15 {
      text += String(Int(clamping: value))
    } else {
      text += value.description
    }
  }

  /// By integers, for events that come ten times a second.
  private static func write(_ value: Double, digits: Int, to text: inout String) {
    guard abs(value) < 1e9 else { return write(value, to: &text) }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int(rounding: value * Double(scale))
    if scaled < 0 { text += "-" }
    text += String(scaled.magnitude / scale.magnitude)
    let rest = scaled.magnitude % scale.magnitude
    guard rest > 0 else { return }
    text += "."
    var place = scale.magnitude / 10
    while place > rest {
      text += "0"
      place /= 10
    }
    text += String(rest)
  }

  private static func quote(_ string: String, to text: inout String) {
    text += "\""
    let string = FileName.shown(string)
    // Names of ours need no escape, and most of users' do not either.
    if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
      text += string
    } else {
      for scalar in string.unicodeScalars { escape(scalar, to: &text) }
    }
    text += "\""
  }

  private static func escape(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case _ where scalar.value < 0x20:
      let hex = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    default: text.unicodeScalars.append(scalar)
    }
  }
}
