import AudioBasics
import Glibc
import TemporaryFolders
import Testing

@testable import AudioFiles

/// Tests of a disk that becomes full in the middle of a file.
@Suite struct FullDiskTests {
  /// A file that cannot grow. A write beyond its end is refused at a page boundary, so that a part
  /// of a frame may be written.
  private struct FullFile: ~Copyable {
    let descriptor: Int32

    init(byteCount: Int) {
      // Swift does not import this function.
      typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
      let create = unsafeBitCast(dlsym(nil, "memfd_create"), to: Create.self)
      let allowsSeals: UInt32 = 2
      descriptor = create("full", allowsSeals)
      ftruncate(descriptor, byteCount)
      let addSeals: Int32 = 1033
      let growing: Int32 = 4
      _ = fcntl(descriptor, addSeals, growing)
    }

    deinit { close(descriptor) }

    var bytes: [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
      _ = pread(descriptor, &bytes, bytes.count, 0)
      return bytes
    }
  }

  @Test(arguments: [FileFormat.wav, .raw], [1, 2, 5])
  func `a full disk leaves no incomplete frame`(format: FileFormat, channels: Int) throws {
    let samples = FileSampleFormat.s24
    let sound = integers(bits: 16, frames: 9000, channels: channels)
    let file = FullFile(byteCount: 5 * 4096)
    var writer = try SoundFileWriter(
      standardOutput: file.descriptor, fileFormat: format, sampleFormat: samples,
      sampleRate: 48000, channelCount: channels)
    var refusal: FileFailure?
    while refusal == nil, writer.framesWritten < 9000 {
      let next = writer.framesWritten
      refusal = failure { try writer.write(sound, from: next, frames: min(1000, 9000 - next)) }
    }
    #expect(refusal?.kind == .writeFailed)
    let frames = writer.framesWritten
    let head = format == .wav ? SoundFileWriter.headerByteCount : 0
    let length = head + frames * channels * samples.byteCount
    #expect(frames > 0)
    #expect(file.bytes.count == length)
    #expect(5 * 4096 - length < channels * samples.byteCount + 4096)
    try? writer.finish()
    #expect(file.bytes.count == length)
    guard format == .wav else { return }
    let folder = TemporaryFolder()
    folder.write(file.bytes, to: "copy")
    let saved = try load(folder("copy"))
    #expect(saved == Array(list(sound)[..<(frames * channels)]))
  }

  @Test(arguments: [(44100, 2), (48000, 1), (22050, 2)], [0.4, 0.77])
  func `an MP3 file that was cut off states the length of what is left`(
    shape: (rate: Int, channels: Int), part: Double
  ) throws {
    let folder = TemporaryFolder()
    let path = folder("cut.mp3")
    var writer = try SoundFileWriter(
      path: path, fileFormat: .mp3, sampleFormat: .float, sampleRate: shape.rate,
      channelCount: shape.channels, overwrite: false)
    try writer.write(glide(frames: 100_000, channels: shape.channels), frames: 100_000)
    try writer.finish()
    let whole = try load(path)
    #expect(whole.count == 100_000 * shape.channels)
    let file = try FileDescriptor(opening: path, O_RDWR)
    let byteCount = Int(lseek(file.number, 0, SEEK_END))
    OutputBytes.cut(file.number, at: Int(rounding: Double(byteCount) * part))
    let end = try #require(MP3End(of: file.number))
    OutputBytes.cut(file.number, at: end.byteCount)
    try end.writeInformation()
    let frames = end.frameCount
    #expect(abs(Double(frames) / 100_000 - part) < 0.1)
    let decoder = try Decoding.decoder(forPath: path)
    #expect(decoder.frameCount == frames && !decoder.isCutShort)
    let left = try load(path)
    #expect(left == Array(whole[..<(frames * shape.channels)]))
    // The whole file is not changed by a second look.
    #expect(MP3End(of: file.number)?.byteCount == end.byteCount)
  }
}
