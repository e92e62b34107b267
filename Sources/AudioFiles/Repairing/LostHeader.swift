/// The format, as the user gives it, of a WAV file whose header became zeros in a power cut.
public struct LostHeader: Sendable {
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
    let alignment = try SampleAlignment(
      file, at: zeros, sampleFormat, channelCount: channelCount)
    var start = alignment.offset(likely: [WaveHeader.byteCount, Self.plainHeaderByteCount])
    let least = header.streamed.count
    // Chunks begin at even places.
    while start < least || (start % 2 == 1 && frameByteCount % 2 == 1) { start += frameByteCount }
    let frames = (file.byteCount - start) / frameByteCount
    guard zeros < file.byteCount, zeros >= start, frames > 0 else { throw .noFrames(file.path) }
    let length = frames * frameByteCount
    let bytes = header.short(dataByteCount: length, padding: start - least)
    let isLong = bytes.identifier(at: 0) == "RF64"
    var plan = RepairPlan(byteCount: file.byteCount)
    try plan.set(bytes, at: 0, in: file)
    let end = start + length
    try plan.cut(at: end, ending: [UInt8](repeating: 0, count: length % 2), in: file)
    return RepairFinding(
      path: file.path, fileFormat: isLong ? .rf64 : .wav, frames: frames, sampleRate: sampleRate,
      headerFrames: nil,
      faults: ["the header was lost, and is written from what you said about it"], plan: plan)
  }

  /// RIFF, a plain format chunk and the head of the samples: what most programs write.
  private static let plainHeaderByteCount = 44
}
