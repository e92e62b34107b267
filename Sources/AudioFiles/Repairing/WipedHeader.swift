/// What somebody remembers of a WAV file whose header became zeros, as power cuts leave it.
public struct WipedHeader: Sendable {
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// How it keeps samples.
  public let sampleFormat: FileSampleFormat

  /// Throws `.invalidRequest` for what no WAV file can hold.
  public init(
    sampleRate: Int, channelCount: Int, sampleFormat: FileSampleFormat
  ) throws(FileFailure) {
    try FileFormat.wav.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.sampleFormat = sampleFormat
  }

  /// A header in the place of the zeros: what of the sound was lost with them stays silent, and the
  /// rest stays where it was.
  func finding(_ file: DamagedFile) throws(FileFailure) -> RepairFinding {
    let format = WaveFormat(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let header = WaveHeader(format: format, isAlwaysLong: false)
    let frameByteCount = format.frameByteCount
    var zeros = 0
    while zeros < file.byteCount, try file.byte(at: zeros) == 0 { zeros += 1 }
    // Most headers are as long as the plainest, but for whole frames; where the end does not fit
    // that but our own, it is one of ours.
    let lengths = [Self.plainHeaderByteCount, WaveHeader.byteCount]
    let likely = lengths.first { (file.byteCount - $0) % frameByteCount == 0 } ?? lengths[0]
    let least = header.streamed.count
    var start = likely % frameByteCount
    while start < least { start += frameByteCount }
    let frames = (file.byteCount - start) / frameByteCount
    guard zeros < file.byteCount, zeros >= start, frames > 0 else { throw .noFrames(file.path) }
    let length = frames * frameByteCount
    let bytes = header.short(dataByteCount: length, padding: start - least)
    var plan = RepairPlan(byteCount: file.byteCount)
    try plan.set(bytes, at: 0, in: file)
    let end = start + length
    try plan.cut(at: end, ending: [UInt8](repeating: 0, count: length % 2), in: file)
    return RepairFinding(
      path: file.path, fileFormat: .wav, frames: frames, sampleRate: sampleRate,
      headerFrames: nil,
      faults: ["the header was lost, and is written from what you said about it"], plan: plan)
  }

  /// RIFF, a plain format chunk, and the head of the samples.
  private static let plainHeaderByteCount = 44
}
