import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

@Suite struct RoundTripTests {
  @Test(
    arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf, .flac],
    [(FileSampleFormat.s16, 16), (.s24, 24)])
  func `integer samples are read back bit for bit`(
    format: FileFormat, samples: (FileSampleFormat, Int)
  ) throws {
    let folder = TemporaryFolder()
    for channels in 1...3 {
      let path = folder("take\(channels)")
      let written = integers(bits: samples.1, frames: 9001, channels: channels)
      try save(written, to: path, format, samples.0)
      #expect(try load(path) == list(written))
      let reader = try SoundFileReader(path: path)
      #expect(reader.frameCount == 9001)
      #expect(reader.sampleRate == 48000)
      #expect(reader.sampleFormat == samples.0)
      #expect(reader.fileFormat == format)
    }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .raw, .w64, .aiff, .caf, .flac], [1, 3])
  func `integers of 16 bits give the same file as floating-point samples`(
    format: FileFormat, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    let written = integers(bits: 16, frames: 9001, channels: channels)
    try save(written, to: folder("numbers"), format, .s16)
    var writer = try SoundFileWriter(
      path: folder("integers"), fileFormat: format, sampleFormat: .s16, sampleRate: 48000,
      channelCount: channels, overwrite: false)
    let acceptsIntegers = writer.acceptsIntegers
    #expect(acceptsIntegers == [.wav, .rf64, .raw].contains(format))
    guard acceptsIntegers else { return }
    let integers = (0..<written.sampleCount).map {
      Int16(exactly: written[$0] * 32768) ?? 0
    }
    try writer.write(integers.span, frames: 4000)
    try writer.write(written, from: 4000, frames: 1)
    try writer.write(integers.span, from: 4001, frames: 5000)
    try writer.finish()
    #expect(folder.bytes(of: "integers") == folder.bytes(of: "numbers"))
  }

  @Test func `only 16-bit files accept integers`() throws {
    let folder = TemporaryFolder()
    for sampleFormat in [FileSampleFormat.s24, .s32, .float] {
      let writer = try SoundFileWriter(
        path: folder("x\(sampleFormat)"), fileFormat: .wav, sampleFormat: sampleFormat,
        sampleRate: 48000, channelCount: 1, overwrite: false)
      let acceptsIntegers = writer.acceptsIntegers
      #expect(!acceptsIntegers)
    }
  }

  @Test(arguments: 0..<8)
  func `samples are rounded to the nearest 16-bit integer, halves to the even one`(
    offset: Int
  ) throws {
    let folder = TemporaryFolder()
    var values: [Float] = [
      0, -0.0, .nan, -.nan, .infinity, -.infinity, 3e38, -3e38, 0x1p-140, -0x1p-140, 1, -1,
      0x0.ffffp0, -0x0.ffffp0, 0x0.fffffep0, 1.5, -1.5,
    ]
    // Values halfway between two integers, and their neighbours.
    for step in stride(from: -65537, through: 65537, by: 331) {
      let half = Float(step) / 65536
      values += [half, half.nextUp, half.nextDown]
    }
    var written = SampleBuffer(frameCount: offset + values.count, channelCount: 1)
    for (index, value) in values.enumerated() { written[offset + index] = value }
    try save(written, to: folder("n"), .wav, .s16)
    let read = try load(folder("n"))
    for (index, value) in values.enumerated() {
      let scaled = value.isNaN ? 0 : min(max(Double(value) * 32768, -32768), 32767)
      #expect(read[offset + index] == Float(scaled.rounded(.toNearestOrEven) / 32768))
    }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf])
  func `floats beyond full scale pass unchanged`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    var written = SampleBuffer(frameCount: 4, channelCount: 1)
    for (index, value) in [1.5, -3e30, 1e-38, 0.1].enumerated() { written[index] = Float(value) }
    try save(written, to: folder("f"), format, .float)
    let read = try load(folder("f"))
    #expect(read == list(written))
  }

  @Test(arguments: [FileFormat.wav, .aiff, .caf, .flac], [FileSampleFormat.s16, .s24])
  func `samples beyond full scale are clipped, and NaN becomes silence`(
    format: FileFormat, samples: FileSampleFormat
  ) throws {
    let folder = TemporaryFolder()
    var written = SampleBuffer(frameCount: 5, channelCount: 1)
    let values: [Float] = [1, -1.5, .nan, .infinity, -.infinity]
    for (index, value) in values.enumerated() {
      written[index] = value
    }
    try save(written, to: folder("x"), format, samples)
    let top = 1 - (samples == .s16 ? Float(0x1p-15) : 0x1p-23)
    #expect(try load(folder("x")) == [top, -1, 0, top, -1])
  }

  @Test func `a sample between two integers is rounded to the nearer one`() throws {
    let folder = TemporaryFolder()
    var written = SampleBuffer(frameCount: 4, channelCount: 1)
    for (index, value) in [0.4, 0.6, -0.6, 1.5].enumerated() {
      written[index] = Float(value) / 32768
    }
    try save(written, to: folder("r.wav"), .wav, .s16)
    #expect(try load(folder("r.wav")).map { $0 * 32768 } == [0, 1, -1, 2])
  }

  @Test(arguments: [FileFormat.ogg, .opus, .mp3])
  func `a lossy file keeps its length and its loudness`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    var written = SampleBuffer(frameCount: 48000, channelCount: 2)
    for index in 0..<96000 { written[index] = index / 100 % 2 == 0 ? 0.25 : -0.25 }
    try save(written, to: folder("l"), format, .float)
    let read = try load(folder("l"))
    #expect(read.count == 96000)
    let power = read.reduce(0) { $0 + $1 * $1 } / Float(read.count)
    #expect(abs(power - 0.0625) < 0.003)
  }

  @Test(arguments: FileFormat.allCases)
  func `a seek reaches the requested frame`(format: FileFormat) throws {
    guard format != .raw, !format.isLossy else { return }
    let folder = TemporaryFolder()
    let written = integers(bits: 16, frames: 20000, channels: 2)
    try save(written, to: folder("s"), format, .s16)
    var reader = try SoundFileReader(path: folder("s"))
    var frame = SampleBuffer(frameCount: 1, channelCount: 2)
    for position in [19999, 0, 12345, 12345] {
      try reader.seek(toFrame: position)
      #expect(try reader.read(into: &frame) == 1)
      #expect(frame[0] == written[position * 2])
    }
    #expect(throws: FileFailure.self) { try reader.seek(toFrame: 20001) }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf])
  func `a refreshed file is complete while it is still written`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    let written = integers(bits: 24, frames: 5000, channels: 2)
    var writer = try SoundFileWriter(
      path: folder("w"), fileFormat: format, sampleFormat: .s24, sampleRate: 96000,
      channelCount: 2, overwrite: false)
    for _ in 0..<2 {
      try writer.write(written, frames: 5000)
      try writer.refreshHeader()
      try writer.synchronize()
    }
    #expect(try load(folder("w")) == list(written) + list(written))
    try writer.write(written, from: 4999, frames: 1)
    #expect(writer.framesWritten == 10001)
    try writer.finish()
    #expect(try load(folder("w")).count == 20002)
  }

  @Test(arguments: [SampleFormat.s16LE, .s24Packed3LE, .s32LE, .floatLE])
  func `raw samples are read in the given format`(format: SampleFormat) throws {
    let folder = TemporaryFolder()
    let written = integers(bits: 16, frames: 100, channels: 2)
    let samples: [SampleFormat: FileSampleFormat] = [
      .s16LE: .s16, .s24Packed3LE: .s24, .s32LE: .s32, .floatLE: .float,
    ]
    try save(written, to: folder("r.raw"), .raw, samples[format] ?? .s16)
    #expect(folder.bytes(of: "r.raw").count == 200 * format.byteCount)
    var reader = try SoundFileReader(
      rawPath: folder("r.raw"), format: format, sampleRate: 44100, channelCount: 2)
    #expect(reader.sampleRate == 44100)
    #expect(reader.frameCount == 100)
    #expect(try AudioFilesTests.samples(of: &reader) == list(written))
  }

  @Test(arguments: [(0, 1), (48000, 0), (48000, 1025), (Int.max, 1)])
  func `raw samples of an impossible shape are refused with the possible ones`(
    rate: Int, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    folder.write([0, 0, 0, 0], to: "x.raw")
    let found = failure {
      _ = try Decoding.rawDecoder(
        forPath: folder("x.raw"), format: .s16LE, sampleRate: rate, channelCount: channels)
    }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.hint.contains("1 to 2147483647 Hz, and 1 to 1024 channels") == true)
  }

  @Test func `a pipe of raw samples is read only by a caller that can end the wait`() {
    let found = failure {
      _ = try Decoding.rawDecoder(
        forPath: "/dev/null", format: .s16LE, sampleRate: 48000, channelCount: 1)
    }
    #expect(found?.message == "/dev/null is a pipe or a device, not a file.")
  }
}
