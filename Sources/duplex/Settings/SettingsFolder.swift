import AudioFiles

/// Where the tool keeps what it has learnt about devices: `$XDG_CONFIG_HOME/duplex`, or
/// `~/.config/duplex` (XDG Base Directory Specification).
enum SettingsFolder {
  /// The path of a settings file for `key`, a text in which every character is kept apart.
  static func path(_ kind: String, _ key: String) throws(ToolFailure) -> String {
    var name = ""
    for byte in key.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"):
        name.unicodeScalars.append(UnicodeScalar(byte))
      default:
        name += "_" + String(byte, radix: 16)
      }
    }
    // The longest name that every file system takes, and what makes long ones differ.
    if name.utf8.count > 180 {
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      name = name.prefix(150) + "-" + String(hash, radix: 16)
    }
    return try folder() + "/\(kind)/\(name).json"
  }

  private static func folder() throws(ToolFailure) -> String {
    // Relative paths there are to be ignored, says the specification.
    if let home = FileName.variable("XDG_CONFIG_HOME"), home.hasPrefix("/") {
      return home + "/duplex"
    }
    guard let home = FileName.variable("HOME"), !home.isEmpty else {
      throw ToolFailure(
        .cannotCreate, code: "outputRefused", "There is no folder for settings.",
        hint: "Set XDG_CONFIG_HOME or HOME.")
    }
    return home + "/.config/duplex"
  }
}

extension JSON {
  /// The first number behind `"name":` in a text of JSON, where there is one.
  static func number(_ name: String, in text: String) -> Double? {
    let quoted = "\"\(name)\""
    var rest = Substring(text)
    while let start = rest.range(of: quoted) {
      rest = rest[start.upperBound...].drop { $0.isWhitespace }
      guard rest.first == ":" else { continue }
      let value = rest.dropFirst().drop { $0.isWhitespace }
        .prefix { $0.isNumber || "+-.eE".contains($0) }
      if let number = Double(value) { return number }
    }
    return nil
  }
}

extension Substring {
  /// Where `word` first stands.
  fileprivate func range(of word: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(word) {
        return start..<index(start, offsetBy: word.count)
      }
      start = index(after: start)
    }
    return nil
  }
}
