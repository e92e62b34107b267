import AudioBasics

/// Lists of sound files that other players write: M3U (one a line, # before comments) and PLS
/// (`File1=` and so on).
public enum Playlist {
  /// Whether a file of this name is one.
  public static func isPlaylist(_ path: String) -> Bool {
    switch FileName.ending(of: path) {
    case "m3u", "m3u8", "pls": true
    default: false
    }
  }

  /// Whether bytes of this MIME type are one.
  public static func isPlaylist(contentType: String) -> Bool {
    switch contentType.lowercased() {
    case "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/mpegurl",
      "application/vnd.apple.mpegurl", "audio/x-scpls", "audio/scpls", "application/pls",
      "application/pls+xml":
      true
    default: false
    }
  }

  /// What the playlist at `path` names, in order: names that are no address and do not begin with a
  /// slash are relative to its folder, and addresses of files here become paths. Throws as `TextFile.read` does, and `.unusableContents` where it
  /// names nothing.
  public static func entries(of path: String) throws(FileFailure) -> [String] {
    let names = try names(in: try TextFile.read(path), of: path)
    let folder = FileName.folder(of: path)
    return names.map { name in
      if let path = FileAddress.path(of: name) { return path }
      let isWhole = name.utf8.first == UInt8(ascii: "/") || isAddress(name) || folder == "."
      return isWhole ? name : FileName.join(folder, name)
    }
  }

  /// What the playlist behind an address names, in order, as addresses: relative ones are relative to
  /// its own. Throws as `RemoteFile.read` does, and `.unusableContents` where it names nothing.
  public static func entries(of file: RemoteFile) throws(FileFailure) -> [String] {
    var bytes: [UInt8] = []
    try withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) {
      (piece) throws(FileFailure) in
      while bytes.count < longestText {
        let count = try file.read(into: piece, at: bytes.count)
        guard count > 0 else { return }
        bytes += piece.prefix(count)
      }
    }
    return try names(in: TextFile.text(of: bytes), of: file.name)
      .compactMap { file.address(of: $0) }
  }

  /// Bytes of a playlist that are looked at where it comes over a network.
  private static let longestText = 1 << 20

  private static func names(in text: String, of path: String) throws(FileFailure) -> [String] {
    guard !text.contains("#EXT-X-") else {
      throw FileFailure(
        .unusableContents, "\(path) is a stream in segments (HLS), which is not supported.",
        hint: "Look for an address of the station that ends in .mp3, .ogg or .pls.")
    }
    let isPLS =
      lines(text).first?.lowercased() == "[playlist]" || FileName.ending(of: path) == "pls"
    let names = isPLS ? namesInPLS(text) : namesInM3U(text)
    guard !names.isEmpty else {
      throw FileFailure(
        .unusableContents, "\(path) is a playlist that names nothing.",
        hint: "Put a file name on each line.")
    }
    guard !names.contains(where: { $0.utf8.contains(0) }) else {
      throw FileFailure(
        .unusableContents, "\(path) names a file with a NUL character, which no name can hold.",
        hint: "Save the playlist as UTF-8.")
    }
    return names
  }

  private static func namesInM3U(_ text: String) -> [String] {
    lines(text).filter { !$0.hasPrefix("#") }
  }

  private static func namesInPLS(_ text: String) -> [String] {
    let numbered = lines(text).compactMap { line -> (Int, String)? in
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased().hasPrefix("file"),
        let number = WrittenNumber.whole(parts[0].dropFirst(4))
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
}
