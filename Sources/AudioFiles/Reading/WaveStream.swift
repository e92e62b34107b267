import CSndFile

/// The header of a file of the WAV family without a valid length: from a pipe, or from a recorder
/// that was stopped before it wrote the length. Raw samples follow it.
struct WaveStream {
  private(set) var sampleRate = 0
  private(set) var channelCount = 0
  private(set) var encoding = 0
  private(set) var bitsPerSample = 0
  private(set) var frameByteCount = 0
  /// The number of bytes of samples; nil if the header does not give it. Recorders write 0,
  /// 0xFFFFFFFF, 0x7FFFFF00 or a similar value to pipes.
  private(set) var dataByteCount: Int?
  /// Whether the numbers and samples are in big-endian order.
  private let isBigEndian: Bool
  /// The offset of the first sample in bytes.
  private var start = 0
  /// Whether, according to the RIFF length in the header, nothing follows the header of the data
  /// chunk.
  private var endsAtData = false
  /// Whether the header gives the number of sample bytes as 0.
  private var isEmpty = false

  /// Reads the header and sets the position of `bytes` to the first sample. Returns nil if this is
  /// not a file of the WAV family with uncompressed samples.
  init?(readingFrom bytes: BufferedBytes) throws(FileFailure) {
    let head = try bytes.bytes(at: 0, count: 12)
    guard let container = SoundContainer(head: head), container.isWave,
      case let isBigEndian = container == .rifx,
      let riffByteCount = head.integer(at: 4, 4, bigEndian: isBigEndian)
    else { return nil }
    self.isBigEndian = isBigEndian
    var offset = 12
    var longDataByteCount: UInt64?
    for _ in 0..<ChunkWalk.maximumChunkCount {
      let chunk = try bytes.bytes(at: offset, count: 8)
      guard let size = chunk.integer(at: 4, 4, bigEndian: isBigEndian) else { return nil }
      offset += 8
      switch chunk.identifier(at: 0) {
      case "data":
        guard frameByteCount > 0 else { return nil }
        dataByteCount = AnnouncedLength.data(size, long: longDataByteCount)
        endsAtData = riffByteCount + 8 <= offset
        isEmpty = size == 0
        start = offset
        bytes.position = offset
        return
      case "fmt " where size >= 16 && size <= 4096:
        let body = try bytes.bytes(at: offset, count: size)
        guard body.count == size,
          let format = WaveFormatChunk(body, bigEndian: isBigEndian), take(format)
        else { return nil }
      case "ds64" where size >= 28 && size <= 65536:
        longDataByteCount = try bytes.bytes(at: offset, count: 16).number(
          at: 8, 8, bigEndian: isBigEndian)
      default: break
      }
      offset += size + (size & 1)
    }
    return nil
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

  private mutating func take(_ format: WaveFormatChunk) -> Bool {
    channelCount = format.channelCount
    sampleRate = format.sampleRate
    frameByteCount = format.blockByteCount
    bitsPerSample = format.bitsPerSample
    let code: Int? =
      switch (format.kind, bitsPerSample) {
      case (1, 8): SF_FORMAT_PCM_U8
      case (1, 16): SF_FORMAT_PCM_16
      case (1, 24): SF_FORMAT_PCM_24
      case (1, 32): SF_FORMAT_PCM_32
      case (3, 32): SF_FORMAT_FLOAT
      case (3, 64): SF_FORMAT_DOUBLE
      case (6, 8): SF_FORMAT_ALAW
      case (7, 8): SF_FORMAT_ULAW
      default: nil
      }
    guard let code, channelCount > 0, sampleRate > 0, sampleRate <= Int(Int32.max),
      frameByteCount == channelCount * bitsPerSample / 8
    else { return false }
    encoding = code
    return true
  }

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
  var info: SF_INFO {
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channelCount)
    info.format = Int32(
      SF_FORMAT_RAW | encoding | (isBigEndian ? SF_ENDIAN_BIG : SF_ENDIAN_LITTLE))
    return info
  }
}
