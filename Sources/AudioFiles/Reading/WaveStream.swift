import CSndFile

/// The header of a file of the WAV family without a valid length: from a pipe, or from a recorder
/// that was stopped before it wrote the length. Raw samples follow it.
struct WaveStream {
  private let encoding: RawEncoding
  /// Whether the header has 64-bit lengths.
  private let isLong: Bool
  /// The number of bytes of samples; nil if the header does not give it. Recorders write 0,
  /// 0xFFFFFFFF, 0x7FFFFF00 or a similar value to pipes.
  private(set) var dataByteCount: Int?
  private var isBigEndian: Bool { encoding.isBigEndian }
  /// The offset of the first sample in bytes.
  private var start = 0
  /// Whether, according to the RIFF length in the header, nothing follows the header of the data
  /// chunk.
  private var endsAtData = false
  /// Whether the header gives the number of sample bytes as 0.
  private var isEmpty = false

  /// Reads the header and sets the position of `bytes` to the first sample. Returns nil if this is
  /// not a file of the WAV family with uncompressed samples. Throws `.unusableContents` if a source
  /// that can only be read in sequence ends before its samples.
  init?(readingFrom bytes: BufferedBytes) throws(FileFailure) {
    let head = try bytes.bytes(at: 0, count: 12)
    if head.count < 12 { try Self.checkEnd(bytes) }
    guard let container = SoundContainer(head: head), container.isWave,
      case let isBigEndian = container == .rifx,
      let riffByteCount = head.integer(at: 4, 4, bigEndian: isBigEndian)
    else { return nil }
    var encoding: RawEncoding?
    var offset = 12
    var longDataByteCount: UInt64?
    for _ in 0..<ChunkWalk.maximumChunkCount {
      let chunk = try bytes.bytes(at: offset, count: 8)
      guard let size = chunk.integer(at: 4, 4, bigEndian: isBigEndian) else {
        try Self.checkEnd(bytes)
        return nil
      }
      offset += 8
      switch chunk.identifier(at: 0) {
      case "data":
        guard let encoding else { return nil }
        self.encoding = encoding
        isLong = container == .rf64 || container == .bw64
        let length = AnnouncedLength(riffByteCount: riffByteCount, long: longDataByteCount)
        dataByteCount = length.data(size, from: offset)
        endsAtData = riffByteCount + 8 <= offset
        isEmpty = size == 0 || length.isEmptyLong(size)
        start = offset
        bytes.position = offset
        return
      case "fmt " where size >= 16 && size <= 4096:
        let body = try bytes.bytes(at: offset, count: size)
        guard body.count == size,
          let format = WaveFormatChunk(body, bigEndian: isBigEndian),
          let found = RawEncoding(format, isBigEndian: isBigEndian)
        else { return nil }
        encoding = found
      case "ds64" where size >= 28 && size <= 65536:
        longDataByteCount = try bytes.bytes(at: offset, count: 16).number(
          at: 8, 8, bigEndian: isBigEndian)
      default: break
      }
      offset += size + (size & 1)
    }
    return nil
  }

  /// Throws an error if the bytes of a pipe end within the header of a WAV file.
  private static func checkEnd(_ bytes: BufferedBytes) throws(FileFailure) {
    guard !bytes.isSeekable else { return }
    try bytes.checkOpening()
    throw .refused(bytes.name, .riff)
  }

  /// Returns whether the recorder stopped before it wrote a length: the header gives no length or a
  /// length of 0, and samples follow.
  func isUnfinished(in bytes: BufferedBytes) throws(FileFailure) -> Bool {
    guard dataByteCount == nil, endsAtData || isEmpty, let byteCount = bytes.byteCount else {
      return false
    }
    guard byteCount - start >= frameByteCount else { return endsAtData }
    let walk = ChunkWalk(file: bytes, byteCount: byteCount, style: isBigEndian ? .rifx : .wave)
    return try !walk.beginsTail(at: start)
  }

  /// The file format.
  var fileFormat: FileFormat { isLong ? .rf64 : .wav }

  private var frameByteCount: Int { encoding.frameByteCount }

  /// Returns the number of frames that the header announces, limited to the `byteCount` bytes after
  /// it; nil if neither number is known.
  func frameCount(in byteCount: Int?) -> Int? {
    [dataByteCount, byteCount].compactMap { $0 }.min().map {
      min($0 / frameByteCount, FileBounds.frameCount)
    }
  }

  /// Returns the number of frames that the header announces, if they need more than the `byteCount`
  /// bytes after it; otherwise nil.
  func frameCount(beyond byteCount: Int) -> Int? {
    guard let dataByteCount, dataByteCount > byteCount else { return nil }
    let announced = min(dataByteCount / frameByteCount, FileBounds.frameCount)
    return announced > byteCount / frameByteCount ? announced : nil
  }

  /// The description of the samples for libsndfile.
  var info: SF_INFO { encoding.info }
}
