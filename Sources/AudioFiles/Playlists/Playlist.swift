/// Lists of sound files that other players write: M3U (one a line, # before comments) and PLS
/// (`File1=` and so on).
public enum Playlist {
  /// Whether a file of this name is one.
  public static func isPlaylist(_ path: String) -> Bool {
    switch suffix(of: path) {
    case "m3u", "m3u8", "pls": true
    default: false
    }
  }

  /// What the playlist at `path` names, in order: names that are no address and do not begin with a
  /// slash are relative to its folder. Throws as `TextFile.read` does, and `.unusableContents` where it
  /// names nothing.
  public static func entries(of path: String) throws(FileFailure) -> [String] {
    let text = try TextFile.read(path)
    let names = suffix(of: path) == "pls" ? namesInPLS(text) : namesInM3U(text)
    guard !names.isEmpty else {
      throw FileFailure(
        .unusableContents, "\(path) is a playlist that names nothing.",
        hint: "Put a file name on each line.")
    }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return names.map { name in
      name.hasPrefix("/") || isAddress(name) ? name : folder + name
    }
  }

  private static func namesInM3U(_ text: String) -> [String] {
    lines(text).filter { !$0.hasPrefix("#") }
  }

  private static func namesInPLS(_ text: String) -> [String] {
    let numbered = lines(text).compactMap { line -> (Int, String)? in
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased().hasPrefix("file"),
        let number = Int(parts[0].dropFirst(4))
      else { return nil }
      return (number, String(parts[1]))
    }
    return numbered.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Lines that hold something, without blanks around them or a mark of the byte order before them.
  private static func lines(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      var line = line.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
      while line.last?.isWhitespace == true { line.removeLast() }
      return line.isEmpty ? nil : String(line)
    }
  }

  private static func isAddress(_ name: String) -> Bool {
    guard let colon = name.firstIndex(of: ":") else { return false }
    return name[colon...].hasPrefix("://")
  }

  static func suffix(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    return name[name.index(after: dot)...].lowercased()
  }
}
