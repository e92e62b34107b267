import CSndFile

/// Bytes that are read one after the other.
protocol BytesInOrder: ~Copyable {
  associatedtype Failure: Error
  /// Fills `bytes` as far as there are any; returns how many.
  func read(into bytes: UnsafeMutableRawPointer, count: Int) throws(Failure) -> Int
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
    guard let head = try Bytes(12, from: input),
      head.tag(0) == "RIFF" || head.tag(0) == "RF64", head.tag(8) == "WAVE"
    else { return nil }
    let riffByteCount = head.number(4)
    var offset = 12
    var longDataByteCount: Int?
    while let chunk = try Bytes(8, from: input) {
      offset += 8
      var rest = chunk.number(4)
      switch chunk.tag(0) {
      case "data":
        guard frameByteCount > 0 else { return nil }
        let isUnknown = rest == 0 || rest >= 0x7FFF_F000
        dataByteCount = longDataByteCount ?? (isUnknown ? nil : rest)
        endsAtData = riffByteCount + 8 <= offset
        return
      case "fmt " where rest >= 16 && rest <= 4096:
        guard let format = try Bytes(rest, from: input), readFormat(format) else { return nil }
        offset += rest
        rest &= 1
      case "ds64" where rest >= 28 && rest <= 65536:
        guard let sizes = try Bytes(rest, from: input) else { return nil }
        longDataByteCount = sizes.longNumber(8)
        offset += rest
        rest &= 1
      default:
        rest += rest & 1
      }
      offset += rest
      guard try Bytes.skip(rest, from: input) else { return nil }
    }
    return nil
  }

  private mutating func readFormat(_ format: borrowing Bytes) -> Bool {
    var tag = format.short(0)
    channelCount = format.short(2)
    sampleRate = format.number(4)
    frameByteCount = format.short(12)
    bitsPerSample = format.short(14)
    if tag == 0xFFFE, format.count >= 26 { tag = format.short(24) }
    let code: Int? =
      switch (tag, bitsPerSample) {
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

/// A few bytes of a header, least significant first.
private struct Bytes: ~Copyable {
  private let memory: UnsafeMutableRawPointer
  let count: Int

  /// The next `count` bytes; nil where the file ends before.
  init?<Input: BytesInOrder & ~Copyable>(
    _ count: Int, from input: borrowing Input
  ) throws(Input.Failure) {
    self.count = count
    memory = .allocate(byteCount: count, alignment: 8)
    guard try input.read(into: memory, count: count) == count else { return nil }
  }

  deinit {
    memory.deallocate()
  }

  /// Reads over `count` bytes; false where the file ends before.
  static func skip<Input: BytesInOrder & ~Copyable>(
    _ count: Int, from input: borrowing Input
  ) throws(Input.Failure) -> Bool {
    var rest = count
    while rest > 0 {
      let piece = min(rest, 4096)
      guard try Bytes(piece, from: input) != nil else { return false }
      rest -= piece
    }
    return true
  }

  func byte(_ offset: Int) -> Int {
    Int(memory.load(fromByteOffset: offset, as: UInt8.self))
  }

  func short(_ offset: Int) -> Int { byte(offset) | byte(offset + 1) << 8 }

  func number(_ offset: Int) -> Int { short(offset) | short(offset + 2) << 16 }

  /// Eight bytes; what no file can have is brought to the most it can.
  func longNumber(_ offset: Int) -> Int {
    let high = number(offset + 4)
    return high >> 21 > 0 ? FileBounds.byteCount : high << 32 | number(offset)
  }

  func tag(_ offset: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: memory + offset, count: 4), as: UTF8.self)
  }
}
