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
    let header = WaveHeader(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
      isAlwaysLong: false)
    let frameByteCount = header.frameByteCount
    var zeros = 0
    while zeros < file.byteCount, try file.byte(at: zeros) == 0 { zeros += 1 }
    let alignment = try SampleAlignment(
      file, at: zeros, sampleFormat, channelCount: channelCount)
    var start = alignment.offset(likely: [header.byteCount, Self.plainHeaderByteCount])
    // Chunks begin at even places.
    while start < header.byteCount || start % 2 == 1 { start += frameByteCount }
    let frames = (file.byteCount - start) / frameByteCount
    guard zeros < file.byteCount, zeros >= start, frames > 0 else { throw .noFrames(file.path) }
    let length = frames * frameByteCount
    var bytes = header.bytes(dataByteCount: length)
    // Room in front of the first frame: the chunk that is kept for RF64 grows by as much.
    let room = start - header.byteCount
    bytes.replaceSubrange(16..<20, with: [UInt8](28 + room, 4, bigEndian: false))
    bytes.insert(contentsOf: [UInt8](repeating: 0, count: room), at: 48)
    let form = start - 8 + length + length % 2
    let isLong = bytes.identifier(at: 0) == "RF64"
    let place = isLong ? 20..<28 : 4..<8
    bytes.replaceSubrange(place, with: [UInt8](form, place.count, bigEndian: false))
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
