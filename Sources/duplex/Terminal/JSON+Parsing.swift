extension JSON {
  /// The maximum nesting depth of arrays and objects.
  private static let deepest = 32

  /// Parses `text` according to RFC 8259; nil if it is invalid or nested too deeply.
  init?(parsing text: some StringProtocol) {
    var reader = JSONReader(bytes: Array(text.utf8))
    guard let value = reader.value(depth: Self.deepest), reader.isAtEnd else { return nil }
    self = value
  }

  /// The member `name` of an object, the last one if there are several; nil if there is none.
  subscript(name: String) -> JSON? {
    guard case .object(let fields) = self else { return nil }
    return fields.members.last { $0.name == name }?.value
  }

  /// The value of a number; nil for other types.
  var number: Double? {
    if case .number(let value, _) = self { value } else { nil }
  }

  /// The value of a whole number that fits an `Int`; nil otherwise.
  var whole: Int? { number.flatMap { Int(exactly: $0) } }

  /// The value of a string; nil for other types.
  var textValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The elements of an array; nil for other types.
  var elements: [JSON]? {
    if case .array(let values) = self { values } else { nil }
  }

  /// The value of a boolean; nil for other types.
  var boolean: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// Returns the objects in `text`: a single one, or one per line, as in the output of events.
  static func objects(in text: String) -> [JSON] {
    if let one = JSON(parsing: text) { return [one] }
    return text.split(separator: "\n").compactMap { JSON(parsing: $0) }
  }
}

/// A recursive descent parser of JSON, whose time and memory are linear in the size of the text.
private struct JSONReader {
  let bytes: [UInt8]
  private var offset = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether only whitespace is left.
  var isAtEnd: Bool {
    mutating get {
      skipBlanks()
      return offset == bytes.count
    }
  }

  mutating func value(depth: Int) -> JSON? {
    skipBlanks()
    guard depth > 0, offset < bytes.count else { return nil }
    switch bytes[offset] {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSON.string)
    case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSON? {
    var members: [(name: String, value: JSON)] = []
    offset += 1
    if takeMark("}") { return .object([:]) }
    repeat {
      skipBlanks()
      guard let name = string(), takeMark(":"), let value = value(depth: depth - 1) else {
        return nil
      }
      members.append((name, value))
    } while takeMark(",")
    return takeMark("}") ? .object(Fields(members)) : nil
  }

  private mutating func array(depth: Int) -> JSON? {
    var values: [JSON] = []
    offset += 1
    if takeMark("]") { return .array([]) }
    repeat {
      guard let value = value(depth: depth - 1) else { return nil }
      values.append(value)
    } while takeMark(",")
    return takeMark("]") ? .array(values) : nil
  }

  /// Parses a number, which must be finite and have at most 64 characters.
  private mutating func number() -> JSON? {
    let start = offset
    _ = take("-")
    let whole = digits()
    guard whole > 0, whole == 1 || bytes[offset - whole] != UInt8(ascii: "0") else { return nil }
    if take("."), digits() == 0 { return nil }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      guard digits() > 0 else { return nil }
    }
    guard offset - start <= 64,
      let value = Double(String(decoding: bytes[start..<offset], as: UTF8.self)), value.isFinite
    else { return nil }
    return .number(value, digits: 6)
  }

  private mutating func digits() -> Int {
    let start = offset
    while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) {
      offset += 1
    }
    return offset - start
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escaped() else { return nil }
        text += String(scalar).utf8
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  /// Parses the part of an escape sequence after the backslash.
  private mutating func escaped() -> Unicode.Scalar? {
    guard offset < bytes.count else { return nil }
    offset += 1
    let character = Unicode.Scalar(bytes[offset - 1])
    if let (_, meaning) = Self.escapes.first(where: { $0.0 == character }) { return meaning }
    guard character == "u", let unit = codeUnit() else { return nil }
    guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
    guard take("\\"), take("u"), let trail = codeUnit(), UTF16.isTrailSurrogate(trail) else {
      return nil
    }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  /// The characters after a backslash, and their meanings.
  private static let escapes = Array(
    zip("\"\\/bfnrt".unicodeScalars, "\"\\/\u{8}\u{C}\n\r\t".unicodeScalars))

  /// Parses four hexadecimal digits.
  private mutating func codeUnit() -> UInt16? {
    let digits = String(decoding: bytes[offset...].prefix(4), as: UTF8.self)
    guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit),
      let unit = UInt16(digits, radix: 16)
    else { return nil }
    offset += 4
    return unit
  }

  private mutating func take(_ word: StaticString) -> Bool {
    let word = "\(word)".utf8
    guard bytes[offset...].starts(with: word) else { return false }
    offset += word.count
    return true
  }

  /// Skips whitespace and a punctuation mark. Returns false if another character follows.
  private mutating func takeMark(_ mark: StaticString) -> Bool {
    skipBlanks()
    return take(mark)
  }

  private mutating func skipBlanks() {
    while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
  }
}
