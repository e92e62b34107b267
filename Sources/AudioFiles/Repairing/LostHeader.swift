/// The format, as given by the user, of a WAV file whose header became zeros in a power failure.
public struct LostHeader: Sendable {
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of channels, which is the number of samples in a frame.
  public let channelCount: Int
  /// The sample format.
  public let sampleFormat: FileSampleFormat

  /// Creates a format of `sampleRate` Hz. Throws `.invalidRequest` if no WAV file can hold it.
  public init(
    sampleRate: Int, channelCount: Int, sampleFormat: FileSampleFormat
  ) throws(FileFailure) {
    try FileFormat.wav.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.sampleFormat = sampleFormat
  }

  /// Returns the plan to write a header over the zeros at the beginning of `file`. Lost samples
  /// become silent; the others keep their offsets, if there is room for a header before them.
  func finding(_ file: DamagedFile) throws(FileFailure) -> RepairFinding {
    let format = WaveFormat(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let header = WaveHeader(format: format, isAlwaysLong: false)
    let frameByteCount = format.frameByteCount
    let zeros = try file.leadingZeros()
    let alignment = try SampleAlignment(
      file, at: zeros, sampleFormat, channelCount: channelCount)
    let likely = zeros < WaveHeader.byteCount ? [] : [WaveHeader.byteCount]
    let offset = alignment.offset(likely: likely + [Self.plainHeaderByteCount])
    /// Returns the offset of the first frame after at least `minimum` bytes. Chunks begin at even
    /// offsets.
    func first(behind minimum: Int) -> Int {
      var start = offset
      while start < minimum || (start % 2 == 1 && frameByteCount % 2 == 1) {
        start += frameByteCount
      }
      return start
    }
    let minimum = header.streamed.count
    let hasRoom = first(behind: minimum) <= zeros
    let start = first(behind: hasRoom ? minimum : Self.plainHeaderByteCount)
    let frames = (file.byteCount - start) / frameByteCount
    guard zeros < file.byteCount, frames > 0 else { throw .noFrames(file.path) }
    let length = frames * frameByteCount
    var bytes = header.short(dataByteCount: length, padding: hasRoom ? start - minimum : 0)
    let isLong = SoundContainer(beginning: bytes) == .rf64
    var plan = RepairPlan(byteCount: file.byteCount)
    if !hasRoom, !isLong, minimum - Self.sizesByteCount == start {
      // Leaves out the room that is reserved for the sizes of RF64.
      bytes.removeSubrange(12..<12 + Self.sizesByteCount)
      bytes.replaceSubrange(
        4..<8, with: [UInt8](start - 8 + length + length % 2, 4, bigEndian: false))
    }
    if bytes.count == start {
      try plan.set(bytes, at: 0, in: file)
    } else {
      plan.replace(0..<start, with: bytes)
    }
    let end = start + length
    try plan.cut(at: end, ending: [UInt8](repeating: 0, count: length % 2), in: file)
    return RepairFinding(
      path: file.path, fileFormat: isLong ? .rf64 : .wav, frames: frames, sampleRate: sampleRate,
      headerFrames: nil,
      faults: ["the header was lost, and is written from what you said about it"], plan: plan)
  }

  /// The size of RIFF, a plain format chunk and the header of the samples, which most programs
  /// write.
  static let plainHeaderByteCount = 44
  /// The longest stretch of zeros after which chunks are searched for.
  static let maximumByteCount = 65536
  /// The size of a `ds64` chunk, or of the room for one.
  private static let sizesByteCount = 36
}

/// The offset of the first frame in samples without a header. If samples are read one byte too
/// early or too late, the audio becomes noise.
struct SampleAlignment {
  private let sampleFormat: FileSampleFormat
  private let channelCount: Int
  private let bytes: [UInt8]
  /// The number of bytes before the first of `bytes`, less whole frames.
  private let lead: Int
  private var frameByteCount: Int { channelCount * sampleFormat.byteCount }

  /// Examines the contents of `file` from `position` on.
  init(
    _ file: DamagedFile, at position: Int, _ sampleFormat: FileSampleFormat, channelCount: Int
  ) throws(FileFailure) {
    self.sampleFormat = sampleFormat
    self.channelCount = channelCount
    bytes = try file.bytes(at: position, count: 65536)
    lead = position % (channelCount * sampleFormat.byteCount)
  }

  /// Returns the offset of the first frame from the beginning of the file, less whole frames: the
  /// first of `likely` at which the samples are about as smooth as at the smoothest offset,
  /// otherwise the first offset that is this smooth.
  func offset(likely: [Int]) -> Int {
    // Chunks begin at even offsets, and so do frames of an even length.
    let step = frameByteCount % 2 == 0 ? 2 : 1
    let offsets = Array(stride(from: 0, to: frameByteCount, by: step))
    let roughnesses = offsets.map { roughness(offset: $0) }
    let minimum = roughnesses.min() ?? 0
    let smooth = zip(offsets, roughnesses).filter { $1 <= 1.5 * minimum }.map(\.0)
    let wanted = likely.map { $0 % frameByteCount }
    return wanted.first { smooth.contains($0) } ?? smooth.first ?? 0
  }

  /// Returns the mean difference between a sample and the next sample of its channel.
  private func roughness(offset: Int) -> Double {
    let first = (offset - lead + frameByteCount) % frameByteCount
    var sum = 0.0
    var count = 0
    var position = first
    while position + frameByteCount + sampleFormat.byteCount <= bytes.count {
      let step = abs(sample(at: position + frameByteCount) - sample(at: position))
      // Bytes of two floats can form a float of any size, or not a number (NaN).
      sum += step <= 2 ? Double(step) : 2
      count += 1
      position += frameByteCount
    }
    return count > 0 ? sum / Double(count) : 0
  }

  private func sample(at position: Int) -> Float {
    let count = sampleFormat.byteCount
    let number = bytes.number(at: position, count, bigEndian: false) ?? 0
    let bits = UInt32(truncatingIfNeeded: number) << UInt32(32 - 8 * count)
    return sampleFormat == .float
      ? Float(bitPattern: bits) : Float(Int32(bitPattern: bits)) / 2_147_483_648
  }
}
