/// Where frames begin in samples without a header: read a byte too early or too late, sound becomes
/// noise.
struct SampleAlignment {
  private let sampleFormat: FileSampleFormat
  private let channelCount: Int
  private let bytes: [UInt8]
  /// Bytes before the first of `bytes`, less whole frames.
  private let lead: Int
  private var frameByteCount: Int { channelCount * sampleFormat.byteCount }

  /// Looks at what `file` holds from `place` on.
  init(
    _ file: DamagedFile, at place: Int, _ sampleFormat: FileSampleFormat, channelCount: Int
  ) throws(FileFailure) {
    self.sampleFormat = sampleFormat
    self.channelCount = channelCount
    bytes = try file.bytes(at: place, count: 65536)
    lead = place % (channelCount * sampleFormat.byteCount)
  }

  /// Bytes between the last whole frame's end before the sound and the beginning of the file, less
  /// whole frames: the first of `likely` that is about as smooth as the smoothest.
  func offset(likely: [Int]) -> Int {
    // Chunks begin at even places, and so do frames of an even length.
    let step = frameByteCount % 2 == 0 ? 2 : 1
    let offsets = Array(stride(from: 0, to: frameByteCount, by: step))
    let roughnesses = offsets.map { roughness(offset: $0) }
    let least = roughnesses.min() ?? 0
    let smooth = zip(offsets, roughnesses).filter { $1 <= 1.5 * least }.map(\.0)
    let wanted = likely.map { $0 % frameByteCount }
    return wanted.first { smooth.contains($0) } ?? smooth.first ?? 0
  }

  /// How far one sample is from the next of its channel, in the mean.
  private func roughness(offset: Int) -> Double {
    let first = (offset - lead + frameByteCount) % frameByteCount
    var sum = 0.0
    var count = 0
    var place = first
    while place + frameByteCount + sampleFormat.byteCount <= bytes.count {
      let step = abs(sample(at: place + frameByteCount) - sample(at: place))
      // Bytes of two floats make one of any size, or no number at all.
      sum += step <= 2 ? Double(step) : 2
      count += 1
      place += frameByteCount
    }
    return count > 0 ? sum / Double(count) : 0
  }

  private func sample(at place: Int) -> Float {
    let count = sampleFormat.byteCount
    let number = bytes.number(at: place, count, bigEndian: false) ?? 0
    let bits = UInt32(truncatingIfNeeded: number) << UInt32(32 - 8 * count)
    return sampleFormat == .float
      ? Float(bitPattern: bits) : Float(Int32(bitPattern: bits)) / 2_147_483_648
  }
}
