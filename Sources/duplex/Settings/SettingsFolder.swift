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

  /// The objects in the settings file `path`; nil where there is no such file. Throws as
  /// `TextFile.read` does.
  static func objects(at path: String) throws(FileFailure) -> [JSON]? {
    guard TextFile.exists(path) else { return nil }
    return JSON.objects(in: try TextFile.read(path, limit: longestText))
  }

  /// Bytes of settings that are read; what was saved has hundreds.
  static let longestText = 1_048_576

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
