import AudioFiles

/// The folder with the tool's settings for devices: `$XDG_CONFIG_HOME/duplex`, or
/// `~/.config/duplex` (XDG Base Directory Specification).
enum SettingsFolder {
  /// Returns the path of a settings file for `key`. Different keys have different paths.
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
    // All file systems support names of this length; a hash distinguishes longer ones.
    if name.utf8.count > 180 {
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      name = name.prefix(150) + "-" + String(hash, radix: 16)
    }
    return try folder() + "/\(kind)/\(name).json"
  }

  /// Returns the objects in the settings file `path`; nil if there is no such file. Throws the
  /// errors of `TextFile.read`.
  static func objects(at path: String) throws(FileFailure) -> [JSON]? {
    guard FileStatus.isTaken(path) else { return nil }
    return JSON.objects(in: try TextFile.read(path, limit: maximumByteCount))
  }

  /// Throws if no file can be written for the settings of `kind`, before a measurement whose result
  /// could not be saved.
  static func check(_ kind: String) throws {
    try check(path: try folder() + "/\(kind)/settings.json")
  }

  /// Throws if the settings file `path` cannot be written.
  static func check(path: String) throws(FileFailure) {
    var path = path
    // The folders that do not exist yet are created in the one above them.
    while !FileStatus.isTaken(FileName.folder(of: path)) { path = FileName.folder(of: path) }
    do throws(FileFailure) {
      try OutputFolder.check(for: path)
      try TextFile.checkWriting(path)
    } catch {
      throw explained(error)
    }
  }

  /// Returns a failure to write a file here with a hint about the folder: the user did not choose
  /// the name of the file.
  private static func explained(_ failure: FileFailure) -> FileFailure {
    guard failure.kind == .cannotCreate || failure.kind == .permissionDenied else { return failure }
    return FileFailure(
      failure.kind, failure.message,
      hint:
        "Settings are saved in this folder: remove what is in the way, or set XDG_CONFIG_HOME to another folder."
    )
  }

  /// Writes `text` to the settings file `path`. Throws the errors of `TextFile.write`.
  static func write(_ text: String, to path: String) throws(FileFailure) {
    do throws(FileFailure) {
      try TextFile.write(text + "\n", to: path, makingFolders: true)
    } catch {
      throw explained(error)
    }
  }

  /// The maximum size of a settings file in bytes; saved settings have some hundred bytes.
  static let maximumByteCount = 1_048_576

  /// Returns the path of the folder, even if it does not exist.
  static func folder() throws(ToolFailure) -> String {
    // The specification requires that relative paths are ignored.
    if let home = FileName.variable("XDG_CONFIG_HOME"), home.hasPrefix("/") {
      return home + "/duplex"
    }
    guard let home = FileName.variable("HOME"), !home.isEmpty else {
      throw ToolFailure(
        .cannotCreate, code: "outputRefused",
        "There is no folder for settings: neither XDG_CONFIG_HOME nor HOME is set.",
        hint: "Set one of the two variables.")
    }
    return home + "/.config/duplex"
  }
}
