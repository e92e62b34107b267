/// Heads of sound files that libsndfile must not see, or says too little of.

/// Length of sound by the header of a Wave64, AIFF or AU file, where it goes beyond the file's end:
/// libsndfile reduces it without a word to what is there. (WAV and RF64: `WaveStream`; CAF:
/// `CutCAF`.)
enum AnnouncedSound {
  /// Bytes of sound that the head announces, where they reach beyond the file's end; nil where they
  /// do not, or the head does not say.
  static func byteCount(in bytes: BufferedBytes) throws(FileFailure) -> Int? {
    guard let byteCount = bytes.byteCount else { return nil }
    let head = try bytes.bytes(at: 0, count: 40)
    switch (head.identifier(at: 0), head.identifier(at: 8)) {
    case ("riff", _) where head.identifier(at: 24) == "wave":
      return try size(
        of: "data", ChunkWalk(file: bytes, byteCount: byteCount, style: .wave64), from: 40,
        below: FileBounds.byteCount)
    case ("FORM", "AIFF"), ("FORM", "AIFC"):
      // Offset and block size come before the sound.
      return try size(
        of: "SSND", ChunkWalk(file: bytes, byteCount: byteCount, style: .aiff), from: 12,
        below: AnnouncedLength.unknownSize
      ).map { $0 - 8 }
    case (".snd", _), ("dns.", _):
      // An AU file has a head, and nothing else than sound behind it.
      let isBig = head[0] == UInt8(ascii: ".")
      guard let start = head.integer(at: 4, 4, bigEndian: isBig),
        let size = head.integer(at: 8, 4, bigEndian: isBig)
      else { return nil }
      return size < AnnouncedLength.unknownSize && size > byteCount - start ? size : nil
    default: return nil
    }
  }

  private static func size(
    of name: String, _ walk: ChunkWalk, from offset: Int, below limit: Int
  ) throws(FileFailure) -> Int? {
    let sound = try walk.first(from: offset) { $0.identifier == name ? $0 : nil }
    guard let sound, sound.size < limit, sound.size > walk.byteCount - sound.body else {
      return nil
    }
    return sound.size
  }
}

/// Check for chunks of a WAV or RF64 file that libsndfile is not to see. It loops for ever in some
/// lists (`LIST`; its issue 1118): it adds an entry's size to its own place in 32 bits, and goes
/// back where that overflows. And it refuses a file in which samples follow twice, as where files
/// were joined.
struct WaveChunkCheck {
  /// Whether libsndfile is not to see them at all.
  private(set) var areUnsafe = false
  /// Where a further file begins, or its samples; nil where none does.
  private(set) var end: Int?

  /// Looks at the chunks in `bytes`; nothing is wrong where this is no WAV file.
  init(_ bytes: BufferedBytes) throws(FileFailure) {
    guard var chunks = try WaveChunks(bytes) else { return }
    var hasData = false
    for _ in 0..<ChunkWalk.most {
      guard let chunk = try chunks.next() else { return }
      let name = chunk.identifier
      if hasData, WaveChunks.forms.contains(name) || name == "data" || name == "fmt " {
        end = chunk.start
        return
      }
      if name == "data" { hasData = true }
      if name == "LIST",
        try Self.isUnsafe(list: chunks.contents(of: chunk), chunks.isBigEndian, bytes)
      {
        areUnsafe = true
        return
      }
    }
    areUnsafe = true
  }

  /// Whether the entries of a list do not follow each other as they should.
  private static func isUnsafe(
    list: Range<Int>, _ isBig: Bool, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Bool {
    var offset = list.lowerBound
    for _ in 0..<WaveChunks.mostEntries {
      guard offset < list.upperBound else { return false }
      let entry = try bytes.bytes(at: offset, count: 8)
      switch entry.identifier(at: 0) {
      case "adtl", "INFO":
        offset += 4
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
      offset += 8 + size + (size & 1)
    }
    return true
  }
}

/// Size check of the comments of a FLAC file (RFC 9639, section 8): libsndfile keeps the comments
/// of each block, where the format knows one such block.
enum FLACComments {
  /// Bytes of all comments, at most; one block has 16 MiB less one byte.
  private static let most = 1 << 24
  private static let mostBlocks = 4096
  private static let commentType: UInt8 = 4

  /// Throws `.unusableContents` where a FLAC file in `bytes` has more comments than fit into
  /// memory, or blocks without end. Says nothing of what is no FLAC file.
  static func check(_ bytes: BufferedBytes) throws(FileFailure) {
    guard let start = try bytes.endOfID3Tags(),
      try bytes.bytes(at: start, count: 4).identifier(at: 0) == "fLaC"
    else { return }
    var offset = start + 4
    var commentByteCount = 0
    for _ in 0..<mostBlocks {
      let block = try bytes.bytes(at: offset, count: 4)
      guard let byteCount = block.integer(at: 1, 3, bigEndian: true) else { return }
      if block[0] & 127 == commentType { commentByteCount += byteCount }
      guard commentByteCount < most else {
        throw .noSoundWithin(bytes.name, offset + byteCount)
      }
      if block[0] & 128 != 0 { return }
      offset += 4 + byteCount
    }
    throw .noSoundWithin(bytes.name, offset)
  }
}

/// Tells files of MPEG audio (MP3 and its kin) from others before libsndfile sees them: its decoder
/// of them prints what it thinks of damage, and `MPEGDecoder` reads them anyhow.
enum MPEGBeginning {
  /// Whether libsndfile would take `bytes` for MPEG audio: those behind their ID3 tags begin with
  /// eleven ones.
  static func isThere(in bytes: BufferedBytes) throws(FileFailure) -> Bool {
    for withFooters in [true, false] {
      guard let start = try bytes.endOfID3Tags(withFooters: withFooters) else { return true }
      let head = try bytes.bytes(at: start, count: 2)
      if head.count == 2, head[0] == 0xFF, head[1] & 0xE0 == 0xE0 { return true }
    }
    return false
  }
}

extension FileFailure {
  /// The lists of tags in the WAV file `name` are damaged, and its sound is not of a plain kind.
  static func unsafeLists(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) begins like a WAV file, but its lists of tags are damaged.",
      hint: "Get another copy of the file, or convert it with ffmpeg.")
  }

  /// MPEG audio for what reads other files.
  static func mpeg(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents,
      "\(name) begins like MPEG audio (MP3), but is damaged, cut short or not fit for this.",
      hint: "Convert it to WAV with ffmpeg.")
  }
}
