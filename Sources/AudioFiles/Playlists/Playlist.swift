import AudioBasics

/// Reading of playlists: M3U (one file name per line, comments begin with #) and PLS (`File1=` and
/// so on). Any thread but the audio thread.
public enum Playlist {
  /// Returns whether the extension of `path` is that of a playlist.
  public static func isPlaylist(_ path: String) -> Bool {
    PathExtension.playlists.contains(FileName.ending(of: path))
  }

  /// Returns whether `contentType` is the MIME type of a playlist.
  public static func isPlaylist(contentType: String) -> Bool {
    switch contentType.lowercased() {
    case "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/mpegurl",
      "application/vnd.apple.mpegurl", "audio/x-scpls", "audio/scpls", "application/pls",
      "application/pls+xml":
      true
    default: false
    }
  }

  /// Returns whether a remote file is a playlist, according to its MIME type or its first bytes.
  /// Blocks until these are received. Throws the same errors as `RemoteFile.probe`.
  public static func isPlaylist(_ file: RemoteFile) throws(FileFailure) -> Bool {
    if let type = file.contentType, isPlaylist(contentType: type) { return true }
    return try file.probe { () throws(FileFailure) in
      // A server may send the first line in several parts.
      let text = try beginning(of: file, pieceByteCount: 64) { $0.count >= 64 || $0.contains(10) }
      var lines = PlaylistLines(text)
      return isPLS(text) || lines.next()?.starts(with: "#EXTM3U".utf8) == true
    }
  }

  /// The maximum number of names in one playlist, and in all playlists that it refers to together.
  public static let maximumEntries = 100_000

  /// The maximum size of a playlist in bytes: about 80 bytes for each name.
  private static let maximumByteCount = 8 << 20

  /// Returns the files named by the playlist at `path`, in order. Relative names are resolved
  /// against the folder of the playlist, and `file:` addresses become paths. Throws the same errors
  /// as `TextFile.read`, and `.unusableContents` if the playlist names no files, names too many, or
  /// is too large.
  public static func entries(of path: String) throws(FileFailure) -> NamedFiles {
    let names = try names(in: try TextFile.bytes(of: path, limit: maximumByteCount), of: path)
    return NamedFiles(names, in: .folder(FileName.folder(of: path)))
  }

  /// Returns the addresses of the files named by a remote playlist, in order. Relative names are
  /// resolved against the address of the playlist after redirects. Throws the same errors as
  /// `RemoteFile.probe`, and `.unusableContents` if the playlist names no files, names too many, or
  /// is too large.
  public static func entries(of file: RemoteFile) throws(FileFailure) -> NamedFiles {
    let bytes = try file.probe { () throws(FileFailure) in
      try beginning(of: file, pieceByteCount: 16384) { $0.count > maximumByteCount }
    }
    guard bytes.count <= maximumByteCount else { throw .longerThan(maximumByteCount, file.name) }
    return NamedFiles(try names(in: bytes, of: file.name), in: .address(file.location))
  }

  /// Reads the first bytes of `file` in pieces of at most `pieceByteCount` bytes until `isEnough`
  /// returns true or the file ends.
  private static func beginning(
    of file: RemoteFile, pieceByteCount: Int, until isEnough: ([UInt8]) -> Bool
  ) throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    try withUnsafeTemporaryAllocation(byteCount: pieceByteCount, alignment: 1) {
      (piece) throws(FileFailure) in
      while !isEnough(bytes) {
        let count = try file.read(into: piece, at: bytes.count)
        guard count > 0 else { return }
        bytes += piece.prefix(count)
      }
    }
    return bytes
  }

  private static func names(in text: [UInt8], of path: String) throws(FileFailure) -> NameList {
    // UTF-16 is recognised by its byte order mark.
    let text = TextFile.narrow(text) ?? text
    let isPLS = isPLS(text) || FileName.ending(of: path) == "pls"
    let names = try isPLS ? namesInPLS(text, of: path) : namesInM3U(text, of: path)
    guard names.count > 0 else {
      throw FileFailure(
        .unusableContents, "\(path) is a playlist that names nothing.",
        hint: "Put a file name on each line.")
    }
    return names
  }

  private static func isPLS(_ text: [UInt8]) -> Bool {
    var lines = PlaylistLines(text)
    return lines.next().map { isWord($0, "[playlist]") } ?? false
  }

  /// Returns whether `bytes` equal the lower-case `word`. The case of letters is ignored.
  private static func isWord(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
    bytes.count == word.utf8.count && String(decoding: bytes, as: UTF8.self).lowercased() == word
  }

  private static func namesInM3U(
    _ text: [UInt8], of path: String
  ) throws(FileFailure) -> NameList {
    var names = NameList()
    var lines = PlaylistLines(text)
    while let line = lines.next() {
      guard line.first == UInt8(ascii: "#") else {
        try add(line, to: &names, of: path)
        continue
      }
      guard !line.starts(with: "#EXT-X-".utf8) else {
        throw FileFailure(
          .unusableContents, "\(path) is a stream in segments (HLS), which is not supported.",
          hint: "Look for an address of the station that ends in .mp3, .ogg or .pls.")
      }
    }
    return names
  }

  private static func namesInPLS(
    _ text: [UInt8], of path: String
  ) throws(FileFailure) -> NameList {
    var names = NameList()
    var numbers: [Int] = []
    var lines = PlaylistLines(text)
    while let line = lines.next() {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = PlaylistLines.trimmed(line[..<equals])
      let name = PlaylistLines.trimmed(line[(equals + 1)...])
      guard !name.isEmpty, isWord(key.prefix(4), "file"),
        // A longer number is not valid.
        key.count <= 4 + 20,
        let number = NumberParser.whole(String(decoding: key.dropFirst(4), as: UTF8.self))
      else { continue }
      try add(name, to: &names, of: path)
      numbers.append(number)
    }
    guard zip(numbers, numbers.dropFirst()).contains(where: >) else { return names }
    var sorted = NameList()
    for index in numbers.indices.sorted(by: { numbers[$0] < numbers[$1] }) {
      sorted.append(names[index])
    }
    return sorted
  }

  private static func add(
    _ name: ArraySlice<UInt8>, to names: inout NameList, of path: String
  ) throws(FileFailure) {
    guard names.count < maximumEntries else {
      throw FileFailure(
        .unusableContents, "\(path) names more than \(maximumEntries) files.",
        hint: "Split it into several playlists, and play one after the other.")
    }
    guard !name.contains(0) else {
      throw FileFailure(
        .unusableContents, "\(path) names a file with a NUL character, which no name can hold.",
        hint: "Save the playlist as UTF-8.")
    }
    names.append(name)
  }
}

/// An iterator over the lines of a playlist that are not empty, without surrounding whitespace and
/// without a byte order mark at the beginning of the text.
struct PlaylistLines {
  private let text: [UInt8]
  private var position: Int

  init(_ text: [UInt8]) {
    self.text = text
    position = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func next() -> ArraySlice<UInt8>? {
    while position < text.endIndex {
      let end = text[position...].firstIndex { $0 == 10 || $0 == 13 } ?? text.endIndex
      let line = Self.trimmed(text[position..<end])
      position = end + 1
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Returns `text` without surrounding whitespace.
  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let first = text.first, isBlank(first) { text.removeFirst() }
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}

/// Conversion of addresses of local files to paths: `file:///music/My%20song.flac`, or the short
/// form `file:/music/My%20song.flac` (RFC 8089). Any thread but the audio thread.
public enum FileAddress {
  /// Returns the path in `address`; nil if it is not the address of a local file. A `#` is part of
  /// the path.
  public static func path(of address: String) -> String? {
    let scheme = "file:/"
    guard address.prefix(scheme.count).lowercased() == scheme else { return nil }
    var rest = address.dropFirst(scheme.count - 1)
    if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
      let local = "localhost/"
      if rest.prefix(local.count).lowercased() == local { rest = rest.dropFirst(local.count - 1) }
      guard rest.hasPrefix("/") else { return nil }
    }
    return decoded(rest)
  }

  /// Decodes percent-encoded bytes. A percent sign that is not followed by two hexadecimal digits
  /// is kept. Returns nil if a decoded byte is 0, which no path can contain.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = FileName.bytes(of: String(text))[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isDigit),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        guard value != 0 else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return FileName.text(of: bytes)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit
  }
}

/// The files that a playlist names or a folder contains, in order. The memory of names already
/// taken out is released.
public struct NamedFiles: Sequence, IteratorProtocol, Sendable {
  /// The base against which relative names are resolved.
  enum Base: Sendable {
    /// The folder of a playlist, in which names may be addresses.
    case folder(String)
    /// The folder that was listed, in which every name is a file name, even if it looks like an
    /// address.
    case listing(String)
    case address(WebAddress)
  }

  /// The subfolders of a listed folder that could not be read, and whose files are missing here.
  public internal(set) var unreadableFolders: [String] = []
  private var names: NameList
  private let base: Base

  init(_ names: NameList, in base: Base) {
    self.names = names
    self.base = base
  }

  /// The number of files left.
  public var count: Int { names.count }
  /// The size in bytes of the names that are left.
  public var byteCount: Int { names.byteCount }

  /// Removes the first remaining file and returns its path or address; nil if none is left.
  public mutating func next() -> String? {
    while let name = names.takeFirst() {
      if let located = located(name) { return located }
    }
    return nil
  }

  /// Returns the path or address for `name`; nil if a remote playlist contains an invalid address.
  private func located(_ name: String) -> String? {
    switch base {
    case .address(let address):
      // A Windows path (`C:\Music\a.mp3`) is reported when its turn comes.
      return address.joined(to: name) ?? address.joined(to: "./" + name)
    case .listing(let folder):
      let isPlain = folder == "." && name != StandardInput.path && !name.contains(":")
      return isPlain ? name : FileName.join(folder, name)
    case .folder(let folder):
      if let path = FileAddress.path(of: name) { return path }
      let isWhole =
        name.utf8.first == UInt8(ascii: "/") || FileName.isAddress(name)
        || (folder == "." && name != StandardInput.path)
      let path = isWhole ? name : FileName.join(folder, name)
      guard name.contains("\\"), !SoundFileReader.exists(path) else { return path }
      // Players on Windows write backslashes as separators.
      let translated = FileName.join(folder, String(name.map { $0 == "\\" ? "/" : $0 }))
      return SoundFileReader.exists(translated) ? translated : path
    }
  }
}
