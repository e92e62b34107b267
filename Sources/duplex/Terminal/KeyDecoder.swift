/// Decodes keys from the bytes that a terminal sends: characters in UTF-8, and control sequences
/// (ECMA-48), of which only those of the arrow keys have a meaning. A sequence may arrive in parts,
/// and is always consumed as a whole. Pasted text is no key if the terminal marks it (bracketed
/// paste), which `Terminal.markPastes` requests.
struct KeyDecoder {
  private enum State {
    /// Between two keys.
    case ground
    /// After an escape character.
    case escape
    /// In a control sequence (CSI), after these parameters.
    case control([UInt8])
    /// After SS3, which is followed by one letter.
    case single
    /// In a string (OSC, DCS and others), up to BEL or ST.
    case string(isEscaped: Bool)
    /// Before bytes without a meaning: of a mouse, or of a function key of the Linux console.
    case skipped(Int)
    /// In a character of several bytes.
    case character([UInt8], missing: Int)
    /// In pasted text, of which the last bytes are this many bytes of `pasteEnd`.
    case pasted(matched: Int)
  }

  /// The time in seconds within which the rest of a sequence must follow. A later byte is a
  /// separate key after the Escape key.
  private static let timeout = 0.5
  /// The time in seconds within which the rest of pasted text must follow. It is longer, because a
  /// slow connection divides long texts, and a letter of the rest could end the recording.
  private static let pasteTimeout = 5.0
  /// The sequence after pasted text.
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  /// The maximum number of bytes of a sequence that are stored.
  private static let maximumParameters = 32

  private var state = State.ground
  private var lastSeconds = -Double.infinity

  /// Returns the key that `byte` completes; nil if it completes none. The byte was received at
  /// `seconds` on a monotonic clock.
  mutating func key(_ byte: UInt8, at seconds: Double) -> Key? {
    if seconds - lastSeconds > timeout { state = .ground }
    lastSeconds = seconds
    return take(byte)
  }

  private var timeout: Double {
    if case .pasted = state { Self.pasteTimeout } else { Self.timeout }
  }

  private mutating func take(_ byte: UInt8) -> Key? {
    let before = state
    state = .ground
    switch before {
    case .ground: return begin(byte)
    case .escape: escape(byte)
    case .control(let parameters): return control(byte, parameters)
    case .single: return Self.arrow(byte)
    case .string(let isEscaped): string(byte, isEscaped: isEscaped)
    case .skipped(let count): if count > 1 { state = .skipped(count - 1) }
    case .character(let bytes, let missing): return character(bytes + [byte], missing: missing - 1)
    case .pasted(let matched): paste(byte, matched: matched)
    }
    return nil
  }

  private mutating func begin(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x1B: state = .escape
    case 0x20...0x7E, 0x09, 0x0A, 0x0D: return .character(Character(UnicodeScalar(byte)))
    case 0xC2...0xDF: state = .character([byte], missing: 1)
    case 0xE0...0xEF: state = .character([byte], missing: 2)
    case 0xF0...0xF4: state = .character([byte], missing: 3)
    default: break
    }
    return nil
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "["): state = .control([])
    case UInt8(ascii: "O"): state = .single
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"),
      UInt8(ascii: "X"):
      state = .string(isEscaped: false)
    case 0x1B: state = .escape
    // A key with Alt is ignored.
    default: break
    }
  }

  private mutating func control(_ byte: UInt8, _ parameters: [UInt8]) -> Key? {
    switch byte {
    case 0x20...0x3F:
      state = .control(parameters.count < Self.maximumParameters ? parameters + [byte] : parameters)
    case UInt8(ascii: "M") where parameters.isEmpty: state = .skipped(3)
    case UInt8(ascii: "[") where parameters.isEmpty: state = .skipped(1)
    case UInt8(ascii: "~") where parameters == Array("200".utf8): state = .pasted(matched: 0)
    case 0x40...0x7E: return parameters.isEmpty ? Self.arrow(byte) : nil
    case 0x1B: state = .escape
    default: break
    }
    return nil
  }

  private mutating func string(_ byte: UInt8, isEscaped: Bool) {
    switch byte {
    case 0x07, 0x9C: break
    case UInt8(ascii: "\\") where isEscaped: break
    default: state = .string(isEscaped: byte == 0x1B)
    }
  }

  /// Consumes a byte of pasted text. Sequences in the text have no meaning, except that of its end.
  private mutating func paste(_ byte: UInt8, matched: Int) {
    let count = byte == Self.pasteEnd[matched] ? matched + 1 : byte == 0x1B ? 1 : 0
    if count < Self.pasteEnd.count { state = .pasted(matched: count) }
  }

  private mutating func character(_ bytes: [UInt8], missing: Int) -> Key? {
    guard let last = bytes.last, last & 0xC0 == 0x80 else {
      return bytes.last.flatMap { begin($0) }
    }
    guard missing == 0 else {
      state = .character(bytes, missing: missing)
      return nil
    }
    return String(validating: bytes, as: UTF8.self)?.first.map { .character($0) }
  }

  private static func arrow(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    default: nil
    }
  }
}
