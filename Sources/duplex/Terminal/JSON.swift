/// A value as JSON (RFC 8259). Written here because Foundation's encoder would double the tool's
/// memory.
enum JSON {
  case string(String)
  case number(Double)
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

  /// `value`, or null where there is none.
  static func optional(_ value: Double?) -> JSON {
    value.map { .number($0) } ?? .null
  }

  /// Numbers with at most `digits` digits behind the point.
  static func rounded(_ value: Double, _ digits: Int = 2) -> JSON {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return .number((value * scale).rounded() / scale)
  }

  /// The text, without line breaks.
  var text: String {
    switch self {
    case .string(let value): Self.quoted(value)
    case .number(let value): Self.digits(value)
    case .integer(let value): String(value)
    case .bool(let value): value ? "true" : "false"
    case .null: "null"
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let pairs): Self.object(pairs.map { ($0.key, $0.value) })
    case .fields(let pairs): Self.object(pairs)
    }
  }

  private static func object(_ pairs: [(String, JSON)]) -> String {
    "{" + pairs.map { quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
  }

  private static func digits(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    let whole = value.rounded()
    return whole == value && abs(value) < 1e15 ? String(Int(whole)) : String(value)
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
