/// What lists (`LIST`) in a WAV or RF64 file could do to libsndfile, which goes round in circles in them (its
/// issue 1118): it adds an entry's size to its own place in 32 bits, and goes back where that is too much.
enum WaveLists {
  private static let mostChunks = 4096
  private static let mostEntries = 65536

  /// Whether libsndfile is not to see the chunks of a file of `byteCount` bytes. `read` gives the bytes at a
  /// place, at most a number of them. False where this is no WAV file.
  static func areUnsafe<Failure: Error>(
    byteCount: Int, _ read: (_ place: Int, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Bool {
    let head = try read(0, 12)
    guard let form = head.identifier(at: 0), ["RIFF", "RIFX", "RF64"].contains(form),
      head.identifier(at: 8) == "WAVE"
    else { return false }
    let isBig = form == "RIFX"
    var longDataByteCount: UInt64?
    var place = 12
    for _ in 0..<mostChunks {
      let chunk = try read(place, 8)
      guard let size = chunk.integer(at: 4, 4, bigEndian: isBig) else { return false }
      var length = size
      let body = place + 8
      switch chunk.identifier(at: 0) {
      case "ds64": longDataByteCount = try read(body, 16).number(at: 8, 8, bigEndian: isBig)
      case "data" where size == 0xFFFF_FFFF:
        length = Int(min(longDataByteCount ?? UInt64(size), UInt64(FileBounds.byteCount)))
      case "LIST":
        let end = min(byteCount, body + size)
        if try isUnsafe(list: body, end, isBig, read) { return true }
      default: break
      }
      place = body + length + (length & 1)
      guard place < byteCount else { return false }
    }
    return true
  }

  /// Whether the entries of a list between `first` and `end` do not follow each other as they should.
  private static func isUnsafe<Failure: Error>(
    list first: Int, _ end: Int, _ isBig: Bool,
    _ read: (_ place: Int, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Bool {
    var place = first
    for _ in 0..<mostEntries {
      guard place < end else { return false }
      let entry = try read(place, 8)
      switch entry.identifier(at: 0) {
      case "adtl", "INFO":
        place += 4
        continue
      // Entries of cameras and chunks of sound are followed by rules of their own.
      case "exif", "data": return true
      default: break
      }
      // Zeros are the rest of a list that was made longer than it had to be.
      guard entry.count == 8, entry.prefix(4).contains(where: { $0 != 0 }),
        let size = entry.integer(at: 4, 4, bigEndian: isBig)
      else { return false }
      guard size < 1 << 31 else { return true }
      place += 8 + size + (size & 1)
    }
    return true
  }
}

extension FileFailure {
  /// The lists of tags in the WAV file `name` are damaged, and its sound is not of a plain kind.
  static func unsafeLists(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) begins like a WAV file, but its lists of tags are damaged.",
      hint: "Make it anew, or convert it with ffmpeg.")
  }
}
