import AudioBasics
import AudioFiles
import Glibc
import Testing

@Suite struct StreamTests {
  @Test(arguments: [FileSampleFormat.s16, .s24, .s32, .float], [FileFormat.wav, .raw])
  func `sound goes down a pipe`(samples: FileSampleFormat, format: FileFormat) throws {
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

  @Test func `a closed pipe is its own kind of trouble`() throws {
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

  @Test func `standard output that is a file gets its length`() throws {
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

  @Test func `what needs a file does not go to standard output`() {
    let trouble = failure {
      _ = try SoundFileWriter(
        standardOutput: 1, fileFormat: .flac, sampleFormat: .s16, sampleRate: 8000,
        channelCount: 1)
    }
    #expect(trouble?.kind == .invalidRequest)
  }

  /// A source that gives another file from the interruption on.
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

  @Test func `where a file has no such frame any more after an interruption, that is told`() throws
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
}
