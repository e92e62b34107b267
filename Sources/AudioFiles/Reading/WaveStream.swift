import CSndFile

/// Bytes that are read one after the other.
protocol BytesInOrder: ~Copyable {
  associatedtype Failure: Error
  /// Fills `bytes` as far as there are any; returns how many.
  func read(into bytes: UnsafeMutableRawPointer, count: Int) throws(Failure) -> Int
}

extension BytesInOrder where Self: ~Copyable {
  /// The next `count` bytes; nil where there are fewer.
  fileprivate func next(_ count: Int) throws(Failure) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = try bytes.withUnsafeMutableBufferPointer { bytes throws(Failure) in
      try bytes.baseAddress.map { start throws(Failure) in try read(into: start, count: count) }
        ?? 0
    }
    return found == count ? bytes : nil
  }

  /// Reads over `count` bytes; false where there are fewer.
  fileprivate func skip(_ count: Int) throws(Failure) -> Bool {
    var rest = count
    while rest > 0 {
      let piece = min(rest, 4096)
      guard try next(piece) != nil else { return false }
      rest -= piece
    }
    return true
  }
}

extension FileDescriptor: BytesInOrder {}

extension BufferedBytes: BytesInOrder {
  func read(into bytes: UnsafeMutableRawPointer, count: Int) throws(FileFailure) -> Int {
    try read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
  }
}

/// The head of a WAV file that comes without a length: from a pipe, or from a recorder that was
/// killed before it could note one. After it, the samples follow bare.
struct WaveStream {
  private(set) var sampleRate = 0
  private(set) var channelCount = 0
  private(set) var encoding = 0
  private(set) var bitsPerSample = 0
  private(set) var frameByteCount = 0
  /// Bytes of samples; nil where the header does not say, as recorders write to pipes (0,
  /// 0x7FFFFF00 and its like, 0xFFFFFFFF).
  private(set) var dataByteCount: Int?
  /// Whether the header's own length says that nothing follows the samples' head.
  private(set) var endsAtData = false

  /// Reads up to the first sample. nil where this is no WAV file of plain samples.
  init?<Input: BytesInOrder & ~Copyable>(
    readingFrom input: borrowing Input
  ) throws(Input.Failure) {
    guard let head = try input.next(12),
      ["RIFF", "RF64"].contains(head.identifier(at: 0)), head.identifier(at: 8) == "WAVE",
      let riffByteCount = head.integer(at: 4, 4, bigEndian: false)
    else { return nil }
    var offset = 12
    var longDataByteCount: Int?
    while let chunk = try input.next(8), var rest = chunk.integer(at: 4, 4, bigEndian: false) {
      offset += 8
      switch chunk.identifier(at: 0) {
      case "data":
        guard frameByteCount > 0 else { return nil }
        let isUnknown = rest == 0 || rest >= 0x7FFF_F000
        dataByteCount = longDataByteCount ?? (isUnknown ? nil : rest)
        endsAtData = riffByteCount + 8 <= offset
        return
      case "fmt " where rest >= 16 && rest <= 4096:
        guard let body = try input.next(rest), let format = WaveFormatChunk(body),
          take(format)
        else { return nil }
        offset += rest
        rest &= 1
      case "ds64" where rest >= 28 && rest <= 65536:
        guard let sizes = try input.next(rest) else { return nil }
        // What no file can have is brought to the most it can.
        longDataByteCount = sizes.number(at: 8, 8, bigEndian: false).map {
          Int(min($0, UInt64(FileBounds.byteCount)))
        }
        offset += rest
        rest &= 1
      default:
        rest += rest & 1
      }
      offset += rest
      guard try input.skip(rest) else { return nil }
    }
    return nil
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

  /// Frames that the head announces, as far as the `byteCount` bytes behind it hold them; nil where
  /// neither is known.
  func frameCount(in byteCount: Int?) -> Int? {
    [dataByteCount, byteCount].compactMap { $0 }.min().map {
      min($0 / frameByteCount, FileBounds.frameCount)
    }
  }

  /// Frames that the head announces, where they need more than the `byteCount` bytes behind it.
  func frameCount(beyond byteCount: Int) -> Int? {
    guard let dataByteCount, dataByteCount > byteCount else { return nil }
    let announced = min(dataByteCount / frameByteCount, FileBounds.frameCount)
    return announced > byteCount / frameByteCount ? announced : nil
  }

  /// What to tell libsndfile about the samples that follow.
  var info: SF_INFO {
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channelCount)
    info.format = Int32(SF_FORMAT_RAW | encoding | SF_ENDIAN_LITTLE)
    return info
  }
}
