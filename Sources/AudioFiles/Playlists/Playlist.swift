import AudioBasics

/// Lists of sound files that other players write: M3U (one a line, # before comments) and PLS
/// (`File1=` and so on). Any thread but the audio thread.
public enum Playlist {
  /// Whether a file of this name is one.
  public static func isPlaylist(_ path: String) -> Bool {
    PathExtension.playlists.contains(FileName.ending(of: path))
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

  /// Whether what lies behind an address is one: as its server says, or as its first bytes do.
  /// Waits for these. Throws as `RemoteFile.probe` does.
  public static func isPlaylist(_ file: RemoteFile) throws(FileFailure) -> Bool {
    if let type = file.contentType, isPlaylist(contentType: type) { return true }
    return try file.probe { () throws(FileFailure) in
      // A server may send the first line in pieces.
      let text = try beginning(of: file, pieceByteCount: 64) { $0.count >= 64 || $0.contains(10) }
      var lines = PlaylistLines(text)
      return isPLS(text) || lines.next()?.starts(with: "#EXTM3U".utf8) == true
    }
  }

  /// Names that one playlist has, and those it names have together, at most.
  public static let mostEntries = 100_000

  /// Bytes of one, at most: some eighty for each name.
  private static let longest = 8 << 20

  /// What the playlist at `path` names, in order: names that are no address and do not begin with a
  /// slash are relative to its folder, and addresses of files here become paths. Throws as
  /// `TextFile.read` does, and `.unusableContents` where it names nothing, or too much.
  public static func entries(of path: String) throws(FileFailure) -> NamedFiles {
    let names = try names(in: try TextFile.bytes(of: path, limit: longest), of: path)
    return NamedFiles(names, in: .folder(FileName.folder(of: path)))
  }

  /// What the playlist behind an address names, in order, as addresses: relative ones are relative
  /// to its own, or to where that redirects. Throws as `RemoteFile.probe` does, and
  /// `.unusableContents` where it names nothing, or too much.
  public static func entries(of file: RemoteFile) throws(FileFailure) -> NamedFiles {
    let bytes = try file.probe { () throws(FileFailure) in
      try beginning(of: file, pieceByteCount: 16384) { $0.count > longest }
    }
    guard bytes.count <= longest else { throw .longerThan(longest, file.name) }
    return NamedFiles(try names(in: bytes, of: file.name), in: .address(file.location))
  }

  /// The bytes of `file` from the first on, read in pieces of at most `pieceByteCount`, until they
  /// are enough or the file ends.
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
    // A mark of the byte order tells UTF-16.
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

  /// Whether `bytes` are `word`, in small letters or capitals.
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
        // A number of more digits is none.
        key.count <= 4 + 20,
        let number = WrittenNumber.whole(String(decoding: key.dropFirst(4), as: UTF8.self))
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
    guard names.count < mostEntries else {
      throw FileFailure(
        .unusableContents, "\(path) names more than \(mostEntries) files.",
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

/// The lines of a playlist that hold something, without blanks around them, or a mark of the byte
/// order before them.
struct PlaylistLines {
  private let text: [UInt8]
  private var place: Int

  init(_ text: [UInt8]) {
    self.text = text
    place = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func next() -> ArraySlice<UInt8>? {
    while place < text.endIndex {
      let end = text[place...].firstIndex { $0 == 10 || $0 == 13 } ?? text.endIndex
      let line = Self.trimmed(text[place..<end])
      place = end + 1
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Without blanks around it.
  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let first = text.first, isBlank(first) { text.removeFirst() }
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}

/// Addresses of files on this machine: `file:///music/My%20song.flac`, or shorter
/// `file:/music/My%20song.flac` (RFC 8089). Any thread but the audio thread.
public enum FileAddress {
  /// The path in `address`; nil where that is no address of a file here. What follows a `#` stays.
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

  /// Without percent signs for bytes; a sign that is followed by no two digits stays. nil where a
  /// byte is 0, which no path can hold.
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

/// The files that a playlist names or a folder holds, in their order. What was taken out needs no
/// memory any more.
public struct NamedFiles: Sequence, IteratorProtocol, Sendable {
  /// Base against which relative names are resolved.
  enum Base: Sendable {
    /// That of a playlist, whose names may be addresses.
    case folder(String)
    /// The folder that was listed, whose names are names of files, whatever they look like.
    case listing(String)
    case address(WebAddress)
  }

  /// Folders within a listed one that may not be read, whose files are not among these.
  public internal(set) var unreadableFolders: [String] = []
  private var names: NameList
  private let base: Base

  init(_ names: NameList, in base: Base) {
    self.names = names
    self.base = base
  }

  /// How many there are.
  public var count: Int { names.count }
  /// Bytes of the names that were not taken out.
  public var byteCount: Int { names.byteCount }

  /// Takes out the path or address of the first one that is left; nil where none is.
  public mutating func next() -> String? {
    while let name = names.takeFirst() {
      if let located = located(name) { return located }
    }
    return nil
  }

  /// nil where a server names what is no address.
  private func located(_ name: String) -> String? {
    switch base {
    case .address(let address):
      // A path of Windows (`C:\Music\a.mp3`) is told at its turn.
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
      // As players on Windows write it.
      let translated = FileName.join(folder, String(name.map { $0 == "\\" ? "/" : $0 }))
      return SoundFileReader.exists(translated) ? translated : path
    }
  }
}
