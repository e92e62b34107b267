import CSndFile

/// Uncompressed samples in a CAF, AIFF or Wave64 file whose header libsndfile refuses or
/// misunderstands. They are read as raw samples from a known offset on.
///
/// After Apple's Core Audio Format Specification 1.0, Apple's AIFF-C (1991), and Microsoft's
/// `WAVEFORMATEXTENSIBLE`, which Wave64 contains as well.
struct BareSamples {
  let fileFormat: FileFormat
  /// The description of the samples for libsndfile.
  let info: SF_INFO
  /// The offset of the first sample in bytes.
  let start: Int
  /// The number of frames in the file.
  let heldFrameCount: Int
  /// The number of frames that the header announces, if the file has fewer; otherwise nil.
  let announcedFrameCount: Int?

  /// Reads the header. Returns nil if libsndfile reads the file correctly, or if `bytes` are not
  /// such a file. `isRefused` is whether libsndfile has refused it: it does so for texts of some
  /// kilobytes in AIFF and CAF, which are skipped here. Throws `.unusableContents` for an encoding
  /// that cannot be read.
  init?(_ bytes: BufferedBytes, isRefused: Bool = false) throws(FileFailure) {
    guard let byteCount = bytes.byteCount else { return nil }
    let head = try bytes.bytes(at: 0, count: SoundContainer.headByteCount)
    switch SoundContainer(head: head) {
    case .caf:
      try self.init(
        ChunkWalk(file: bytes, byteCount: byteCount, style: .coreAudio), isRefused: isRefused)
    case .aiff:
      let isCompressed = head.identifier(at: 8) == "AIFC"
      try self.init(
        ChunkWalk(file: bytes, byteCount: byteCount, style: .aiff), isCompressed: isCompressed,
        isRefused: isRefused)
    case .wave64:
      try self.init(
        ChunkWalk(file: bytes, byteCount: byteCount, style: .wave64), of: bytes.name)
    case .riff, .rifx, .rf64, .bw64, .au, .littleEndianAU, .flac, .ogg, nil: return nil
    }
  }

  /// Reads a CAF file that ends before the end of its samples, or whose header leaves the length
  /// open (-1, as in a stream) or states no samples although some follow, or any refused one.
  private init?(_ walk: ChunkWalk, isRefused: Bool) throws(FileFailure) {
    let found = try walk.chunks(from: 8, upTo: ["desc", "data"])
    guard let chunk = found["desc"], let data = found["data"],
      let description = try CoreAudioDescription(
        walk.file.bytes(at: chunk.body, count: CoreAudioDescription.byteCount)),
      let encoding = RawEncoding(description)
    else { return nil }
    // An edit count of four bytes precedes the samples.
    let start = data.body + 4
    let isEmpty = (0...4).contains(data.size)
    let isFollowed = isEmpty ? try walk.beginsTail(at: data.body + data.size) : false
    let isOpen = data.size == -1 || isEmpty && !isFollowed
    let isTruncated = data.size < FileBounds.byteCount && data.size > walk.byteCount - data.body
    guard isOpen || isTruncated || isRefused else { return nil }
    self.init(.caf, encoding, start, in: walk, announced: isOpen ? nil : data.size - 4)
  }

  /// Reads an AIFF file whose header states no samples although some follow, or a refused one that
  /// holds all samples that its header states.
  private init?(_ walk: ChunkWalk, isCompressed: Bool, isRefused: Bool) throws(FileFailure) {
    let found = try walk.chunks(from: 12, upTo: ["COMM", "SSND"])
    guard let chunk = found["COMM"], let sound = found["SSND"],
      isRefused || (1...8).contains(sound.size),
      let offset = try walk.file.bytes(at: sound.body, count: 4).integer(
        at: 0, 4, bigEndian: true),
      let common = try AIFFCommonChunk(
        walk.file.bytes(
          at: chunk.body, count: AIFFCommonChunk.byteCount(isCompressed: isCompressed)),
        isCompressed: isCompressed),
      let encoding = RawEncoding(common)
    else { return nil }
    // An offset and a block size of four bytes each precede the samples.
    let start = sound.body + 8
    let announced = common.frames > 0 ? common.frames * encoding.frameByteCount : nil
    let isUsable =
      try isRefused
      ? announced.map { offset + $0 <= sound.size - 8 } ?? false : !walk.beginsTail(at: start)
    guard isUsable else { return nil }
    self.init(.aiff, encoding, start + offset, in: walk, announced: announced)
  }

  /// Reads a Wave64 file with an extensible format chunk, which libsndfile 1.2 always takes for
  /// integers.
  private init?(_ walk: ChunkWalk, of name: String) throws(FileFailure) {
    let found = try walk.chunks(from: 40, upTo: ["fmt ", "data"])
    guard let formatChunk = found["fmt "], let data = found["data"],
      case let body = try walk.file.bytes(at: formatChunk.body, count: 40),
      body.integer(at: 0, 2, bigEndian: false) == WaveFormatChunk.extensible,
      let format = WaveFormatChunk(body), format.kind != 1
    else { return nil }
    guard let encoding = RawEncoding(format, isBigEndian: false) else {
      throw .refused(name, .wave64)
    }
    let isOpen = data.size <= 0 ? try !walk.beginsTail(at: data.body) : false
    let isKnown = !isOpen && data.size < FileBounds.byteCount
    self.init(.w64, encoding, data.body, in: walk, announced: isKnown ? max(0, data.size) : nil)
  }

  /// Limits the samples to the bytes of the file. `announced` is their number of bytes according to
  /// the header; nil if they extend to the end of the file. Returns nil if there is no frame.
  private init?(
    _ fileFormat: FileFormat, _ encoding: RawEncoding, _ start: Int, in walk: ChunkWalk,
    announced: Int?
  ) {
    let rest = walk.byteCount - start
    let announcedFrames = announced.map { min($0 / encoding.frameByteCount, FileBounds.frameCount) }
    let frames = min(rest / encoding.frameByteCount, announcedFrames ?? .max)
    guard rest > 0, frames > 0 || announcedFrames ?? 0 > 0 else { return nil }
    self.fileFormat = fileFormat
    self.start = start
    info = encoding.info
    heldFrameCount = frames
    announcedFrameCount = announcedFrames.flatMap { $0 > frames ? $0 : nil }
  }
}
