import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import TestSources
import Testing

@Suite struct StreamTests {
  @Test(arguments: [FileSampleFormat.s16, .s24, .s32, .float], [FileFormat.wav, .raw])
  func `audio is written to a pipe and read from it`(samples: FileSampleFormat, format: FileFormat)
    throws
  {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    var writer = try SoundFileWriter(
      standardOutput: ends[1], fileFormat: format, sampleFormat: samples, sampleRate: 44100,
      channelCount: 2)
    try writer.write(sound, frames: 1000)
    try writer.refreshHeader()
    try writer.synchronize()
    try writer.finish()
    close(ends[1])
    let path = "/proc/self/fd/\(ends[0])"
    let wire: SampleFormat =
      switch samples {
      case .s16: .s16LE
      case .s24: .s24Packed3LE
      case .s32: .s32LE
      case .float: .floatLE
      }
    let decoder =
      format == .wav
      ? try Decoding.decoder(forPath: path) { _ in }
      : try Decoding.rawDecoder(
        forPath: path, format: wire, sampleRate: 44100, channelCount: 2, whileWaiting: { _ in })
    #expect(decoder.frameCount == nil)
    #expect(decoder.sampleRate == 44100)
    #expect(try decode(decoder) == list(sound))
    close(ends[0])
  }

  @Test func `a WAV file of known length on a pipe ends before what follows it`() throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 1000, channels: 2)
    try save(sound, to: folder("x.wav"), .wav, .s16)
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    let bytes = folder.bytes(of: "x.wav") + Array("LIST....and more".utf8)
    _ = Glibc.write(ends[1], bytes, bytes.count)
    close(ends[1])
    let decoder = try Decoding.decoder(forPath: "/proc/self/fd/\(ends[0])") { _ in }
    #expect(decoder.frameCount == 1000)
    #expect(try decode(decoder) == list(sound))
    close(ends[0])
  }

  @Test func `a closed pipe is reported as a failure of its own kind`() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    let sound = SampleBuffer(frameCount: 100, channelCount: 1)
    var writer = try SoundFileWriter(
      standardOutput: ends[1], fileFormat: .wav, sampleFormat: .s16, sampleRate: 8000,
      channelCount: 1)
    close(ends[0])
    #expect(failure { try writer.write(sound, frames: 100) }?.kind == .closedPipe)
    #expect(writer.framesWritten == 0)
    close(ends[1])
  }

  @Test func `standard output that is a file gets its length in the header`() throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 24, frames: 333, channels: 1)
    let descriptor = open(folder("o.wav"), O_WRONLY | O_CREAT, 0o600)
    var writer = try SoundFileWriter(
      standardOutput: descriptor, fileFormat: .wav, sampleFormat: .s24, sampleRate: 8000,
      channelCount: 1)
    try writer.write(sound, frames: 333)
    try writer.finish()
    close(descriptor)
    #expect(try SoundFileReader(path: folder("o.wav")).frameCount == 333)
    #expect(folder.bytes(of: "o.wav").count % 2 == 0)
  }

  @Test func `a format that needs a file is refused on standard output`() {
    let trouble = failure {
      _ = try SoundFileWriter(
        standardOutput: 1, fileFormat: .flac, sampleFormat: .s16, sampleRate: 8000,
        channelCount: 1)
    }
    #expect(trouble?.kind == .invalidRequest)
  }

  /// A source that returns another file's bytes after the interruption.
  private final class ReplacedSource: ByteSource, @unchecked Sendable {
    // @unchecked because one thread uses it.
    private let sources: [MemorySource]
    private var isReplaced = false

    init(_ first: MemorySource, _ second: MemorySource) { sources = [first, second] }

    private var source: MemorySource { sources[isReplaced ? 1 : 0] }
    var name: String { source.name }
    var byteCount: Int? { source.byteCount }
    var isSeekable: Bool { true }
    var contentType: String? { nil }
    var isInterrupted: Bool { source.isInterrupted }
    func interrupt() { source.interrupt() }
    func readyByteCount(at offset: Int) -> Int { source.readyByteCount(at: offset) }

    func proceed() {
      isReplaced = true
      source.proceed()
    }

    func read(
      into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileFailure) -> Int { try source.read(into: bytes, at: offset) }
  }

  @Test func `a missing frame of a source that changed during an interruption is reported`() throws
  {
    let folder = TemporaryFolder()
    let contents = try [100_000, 9000].map { frames in
      try save(glide(frames: frames, channels: 2), to: folder("\(frames)"), .flac, .s16)
      return folder.bytes(of: "\(frames)")
    }
    let first = MemorySource(contents[0])
    let source = ReplacedSource(first, MemorySource(contents[1]))
    var reader = try SoundFileReader(bytes: source)
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    first.interrupt(behind: contents[0].count / 2)
    while try reader.read(into: &buffer) > 0 {}
    #expect(reader.position > 9000 && reader.position < 100_000)
    let place = reader.position
    source.proceed()
    let trouble = failure { _ = try reader.read(into: &buffer) }
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("no frame \(place)") == true)
  }

  @Test(arguments: [
    (channels: 64, samples: FileSampleFormat.s16, sampleRate: 48000), (1, .s16, 48000),
    (2, .float, 48000), (2, .s16, 44100),
  ])
  func `a source of another format after an interruption is reported and not read`(
    other: (channels: Int, samples: FileSampleFormat, sampleRate: Int)
  ) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 100_000, channels: 2), to: folder("first"), .wav, .s16)
    var writer = try SoundFileWriter(
      path: folder("second"), fileFormat: .wav, sampleFormat: other.samples,
      sampleRate: other.sampleRate, channelCount: other.channels, overwrite: false)
    try writer.write(glide(frames: 100_000, channels: other.channels), frames: 100_000)
    try writer.finish()
    let first = MemorySource(folder.bytes(of: "first"))
    let source = ReplacedSource(first, MemorySource(folder.bytes(of: "second")))
    var reader = try SoundFileReader(bytes: source)
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    first.interrupt(behind: 200_000)
    while try reader.read(into: &buffer) > 0 {}
    source.proceed()
    let trouble = failure { _ = try reader.read(into: &buffer) }
    #expect(trouble?.message == "the source was replaced by another file while it was read.")
    let seeking = failure { try reader.seek(toFrame: 0) }
    #expect(seeking?.message == "the source was replaced by another file while it was read.")
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf, .flac])
  func `a file that is truncated while it is read is reported`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 300_000, channels: 2), to: folder("f"), format, .s24)
    let decoder = try Decoding.decoder(forPath: folder("f"))
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    #expect(try decoder.read(into: &buffer, at: 0, frames: 4096) == 4096)
    #expect(truncate(folder("f"), folder.bytes(of: "f").count / 2) == 0)
    let trouble = failure { _ = try decode(decoder) }
    #expect(trouble?.message.contains("is damaged or cut short after 1") == true)
  }
}
