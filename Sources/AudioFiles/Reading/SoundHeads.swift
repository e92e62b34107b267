/// Checks of file headers that libsndfile does not handle safely, or reports incompletely.

/// The length of the audio data announced by the header of a Wave64, AIFF or AU file, if it exceeds
/// the file. libsndfile reduces the length to the available bytes without an error. (WAV and RF64:
/// see `WaveStream`; CAF: see `BareSamples`.)
enum AnnouncedSound {
  /// Returns the number of bytes of audio data that the header announces, if they exceed the file;
  /// nil if they do not, or if the header does not specify the length.
  static func byteCount(in bytes: BufferedBytes) throws(FileFailure) -> Int? {
    guard let byteCount = bytes.byteCount else { return nil }
    let head = try bytes.bytes(at: 0, count: SoundContainer.headByteCount)
    let container = SoundContainer(head: head)
    switch container {
    case .wave64:
      return try size(
        of: "data", ChunkWalk(file: bytes, byteCount: byteCount, style: .wave64), from: 40
      ) { $0.size < FileBounds.byteCount }
    case .aiff:
      // The chunk contains an offset and a block size, four bytes each, before the samples.
      return try size(
        of: "SSND", ChunkWalk(file: bytes, byteCount: byteCount, style: .aiff), from: 12
      ) { !AnnouncedLength.isPlaceholder($0.size) }
      .map { $0 - 8 }
    case .au, .littleEndianAU:
      // An AU file consists of a header and the samples.
      let isBig = container == .au
      guard let start = head.integer(at: 4, 4, bigEndian: isBig),
        let size = head.integer(at: 8, 4, bigEndian: isBig)
      else { return nil }
      return !AnnouncedLength.isPlaceholder(size) && size > byteCount - start ? size : nil
    case .riff, .rifx, .rf64, .bw64, .caf, .flac, .ogg, nil: return nil
    }
  }

  private static func size(
    of name: String, _ walk: ChunkWalk, from offset: Int, isKnown: (Chunk) -> Bool
  ) throws(FileFailure) -> Int? {
    let sound = try walk.first(from: offset) { $0.identifier == name ? $0 : nil }
    guard let sound, isKnown(sound), sound.size > walk.byteCount - sound.body else {
      return nil
    }
    return sound.size
  }
}

/// The end of the samples of a Wave64 file. libsndfile takes all bytes after the header of the
/// samples for audio: the padding and the chunks that follow them as well.
enum Wave64Samples {
  /// Returns the offset at which the samples end, if only padding or chunks follow; nil otherwise.
  /// A recording that was not finished is longer than its header states.
  static func end(in bytes: BufferedBytes) throws(FileFailure) -> Int? {
    guard let byteCount = bytes.byteCount else { return nil }
    let walk = ChunkWalk(file: bytes, byteCount: byteCount, style: .wave64)
    let data = try walk.first(from: 40) { $0.identifier == "data" ? $0 : nil }
    guard let data, data.size > 0, let end = walk.end(of: data), end < byteCount,
      let next = walk.next(after: data)
    else { return nil }
    if next >= byteCount {
      return try bytes.bytes(at: end, count: byteCount - end).allSatisfy { $0 == 0 } ? end : nil
    }
    return try walk.beginsTail(at: next) ? end : nil
  }
}

/// A check for chunks of a file of the WAV family that libsndfile must not read. libsndfile loops
/// forever in some `LIST` chunks (its issue 1118): it adds the size of an entry to its position in
/// 32 bits, and moves backwards if that overflows. It also refuses a file with two data chunks,
/// such as the result of joining files.
struct WaveChunkCheck {
  /// Whether libsndfile must not read the chunks at all.
  private(set) var areUnsafe = false
  /// The offset of a second file, or of its format or samples; nil if there is none.
  private(set) var end: Int?

  /// Checks the chunks in `bytes`. Finds nothing if these are not a WAV file.
  init(_ bytes: BufferedBytes) throws(FileFailure) {
    guard var chunks = try WaveChunks(bytes) else { return }
    var hasData = false
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try chunks.next() else { return }
      let name = chunk.identifier
      let isFile = SoundContainer(identifier: name)?.isWave == true
      if hasData, isFile || name == "data" || name == "fmt " {
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

  /// Returns whether the sequence of entries of a list is not valid.
  private static func isUnsafe(
    list: Range<Int>, _ isBig: Bool, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Bool {
    var offset = list.lowerBound
    for _ in 0..<WaveChunks.maximumEntries {
      guard offset < list.upperBound else { return false }
      let entry = try bytes.bytes(at: offset, count: 8)
      switch entry.identifier(at: 0) {
      case "adtl", "INFO":
        offset += 4
        continue
      // libsndfile reads Exif entries and data chunks in a list by other rules.
      case "exif", "data": return true
      default: break
      }
      // Zeros are padding at the end of a list.
      guard entry.count == 8, entry.prefix(4).contains(where: { $0 != 0 }),
        let size = entry.integer(at: 4, 4, bigEndian: isBig)
      else { return false }
      guard size < 1 << 31 else { return true }
      offset += 8 + size + (size & 1)
    }
    return true
  }
}

/// A size check of the comments of a FLAC file (RFC 9639, section 8). The format allows one comment
/// block, but libsndfile stores the comments of every block.
enum FLACComments {
  /// The maximum number of bytes of all comments. One block has at most 16 MiB less one byte.
  private static let maximum = 1 << 24
  private static let maximumBlocks = 4096
  private static let commentType: UInt8 = 4

  /// Throws `.unusableContents` if a FLAC file in `bytes` has too many bytes of comments, or too
  /// many metadata blocks. Accepts files of other formats.
  static func check(_ bytes: BufferedBytes) throws(FileFailure) {
    guard let start = try bytes.endOfID3Tags(),
      try SoundContainer(beginning: bytes.bytes(at: start, count: 4)) == .flac
    else { return }
    var offset = start + 4
    var commentByteCount = 0
    for _ in 0..<maximumBlocks {
      let block = try bytes.bytes(at: offset, count: 4)
      guard let byteCount = block.integer(at: 1, 3, bigEndian: true) else { return }
      if block[0] & 127 == commentType { commentByteCount += byteCount }
      guard commentByteCount < maximum else {
        throw .noSoundWithin(bytes.name, offset + byteCount)
      }
      if block[0] & 128 != 0 { return }
      offset += 4 + byteCount
    }
    throw .noSoundWithin(bytes.name, offset)
  }
}

/// Detection of MPEG audio (MP3 and other layers) before libsndfile opens a file. The MPEG decoder
/// of libsndfile prints messages about damage, and `MPEGDecoder` reads these files instead.
enum MPEGBeginning {
  /// Returns whether libsndfile would detect `bytes` as MPEG audio: after their ID3 tags, they
  /// begin with eleven one bits. Also true if there are too many ID3 tags.
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
  /// Returns the failure to read the WAV file `name`, whose lists of tags are damaged and whose
  /// samples are compressed.
  static func unsafeLists(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) begins like a WAV file, but its lists of tags are damaged.",
      hint: "Get another copy of the file, or convert it with ffmpeg.")
  }

  /// Returns the failure to read MPEG audio with a reader of other formats.
  static func mpeg(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents,
      "\(name) begins like MPEG audio (MP3), but is damaged, cut short or not fit for this.",
      hint: "Convert it to WAV with ffmpeg.")
  }
}
