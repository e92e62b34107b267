import CSndFile

/// A CAF file of uncompressed samples that is truncated (Apple Core Audio Format Specification
/// 1.0). libsndfile refuses it, so the remaining samples are read as raw samples.
struct TruncatedCAF {
  /// The description of the samples for libsndfile.
  private(set) var info = SF_INFO()
  /// The offset of the first sample in bytes.
  private(set) var start = 0
  /// The number of frames in the file, and the number that the header announces.
  private(set) var heldFrameCount = 0
  private(set) var announcedFrameCount = 0
  private var frameByteCount = 0

  /// Reads the header. Returns nil if `bytes` are complete, or not such a file.
  init?(_ bytes: BufferedBytes) throws(FileFailure) {
    guard let byteCount = bytes.byteCount,
      try SoundContainer(beginning: bytes.bytes(at: 0, count: 4)) == .caf
    else { return nil }
    var description: [UInt8] = []
    let walk = ChunkWalk(file: bytes, byteCount: byteCount, style: .coreAudio)
    let data = try walk.first(from: 8) { (chunk) throws(FileFailure) -> Chunk? in
      if chunk.identifier == "desc" {
        description = try bytes.bytes(at: chunk.body, count: 32)
      }
      return chunk.identifier == "data" ? chunk : nil
    }
    guard let data, describe(description), data.size < FileBounds.byteCount,
      data.size > byteCount - data.body
    else { return nil }
    // The data chunk begins with an edit count of four bytes.
    start = data.body + 4
    guard start < byteCount else { return nil }
    announcedFrameCount = min((data.size - 4) / frameByteCount, FileBounds.frameCount)
    heldFrameCount = (byteCount - start) / frameByteCount
  }

  /// Reads the sample format from the description chunk. Returns false if the samples are
  /// compressed, or if the description is not valid.
  private mutating func describe(_ description: [UInt8]) -> Bool {
    guard let rateBits = description.number(at: 0, 8, bigEndian: true),
      let flags = description.integer(at: 12, 4, bigEndian: true),
      let byteCount = description.integer(at: 16, 4, bigEndian: true),
      description.integer(at: 20, 4, bigEndian: true) == 1,
      let channels = description.integer(at: 24, 4, bigEndian: true),
      let bits = description.integer(at: 28, 4, bigEndian: true)
    else { return false }
    let isFloat = flags & 1 != 0
    let code: Int? =
      switch (description.identifier(at: 8), bits) {
      case ("lpcm", 8) where !isFloat: SF_FORMAT_PCM_S8
      case ("lpcm", 16) where !isFloat: SF_FORMAT_PCM_16
      case ("lpcm", 24) where !isFloat: SF_FORMAT_PCM_24
      case ("lpcm", 32): isFloat ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_32
      case ("lpcm", 64) where isFloat: SF_FORMAT_DOUBLE
      case ("ulaw", 8): SF_FORMAT_ULAW
      case ("alaw", 8): SF_FORMAT_ALAW
      default: nil
      }
    let rate = Double(bitPattern: rateBits)
    guard let code, (1...1024).contains(channels), byteCount == channels * bits / 8, rate >= 1,
      rate <= Double(Int32.max)
    else { return false }
    frameByteCount = byteCount
    info.samplerate = Int32(clamping: Int(rounding: rate))
    info.channels = Int32(channels)
    let order = flags & 2 != 0 ? SF_ENDIAN_LITTLE : SF_ENDIAN_BIG
    info.format = Int32(SF_FORMAT_RAW | code | order)
    return true
  }
}
