import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@Suite struct CreationTests {
  private func create(
    _ path: String, _ format: FileFormat = .wav, _ samples: FileSampleFormat = .s16,
    rate: Int = 48000, channels: Int = 2, overwrite: Bool = false
  ) -> FileFailure? {
    failure {
      var writer = try SoundFileWriter(
        path: path, fileFormat: format, sampleFormat: samples, sampleRate: rate,
        channelCount: channels, overwrite: overwrite)
      try writer.write(SampleBuffer(frameCount: 1, channelCount: max(1, channels)), frames: 1)
      try writer.finish()
    }
  }

  @Test(arguments: [FileFormat.wav, .flac])
  func `an existing file is kept unless it may be overwritten`(format: FileFormat) {
    let folder = TemporaryFolder()
    folder.write([1, 2, 3], to: "take")
    #expect(create(folder("take"), format)?.kind == .cannotCreate)
    #expect(folder.bytes(of: "take") == [1, 2, 3])
    #expect(create(folder("take"), format, overwrite: true) == nil)
    #expect(folder.bytes(of: "take").count > 40)
  }

  @Test func `a file that cannot be written leaves an existing file unchanged`() {
    let folder = TemporaryFolder()
    folder.write([1, 2, 3], to: "take.mp3")
    #expect(
      create(folder("take.mp3"), .mp3, .float, rate: 96000, overwrite: true)?.kind
        == .invalidRequest)
    #expect(folder.bytes(of: "take.mp3") == [1, 2, 3])
  }

  @Test func `a tilde that no shell replaced is named as the reason`() {
    let refusal = create("~/none.wav")
    #expect(refusal?.kind == .cannotCreate)
    #expect(refusal?.message == "~/none.wav cannot be created: there is no folder ~ here.")
  }

  @Test func `a path with a zero byte is refused, and no prefix of it is used`() {
    let folder = TemporaryFolder()
    #expect(create(folder("take\0.wav"))?.kind == .cannotCreate)
    #expect(create(folder("ta\0ke/take.wav"))?.kind == .cannotCreate)
    folder.write([1, 2, 3], to: "take")
    #expect(create(folder("take\0.wav"), overwrite: true)?.kind == .cannotCreate)
    #expect(folder.bytes(of: "take") == [1, 2, 3])
    #expect(failure { _ = try SoundFileReader(path: folder("take\0.wav")) }?.kind == .cannotOpen)
    #expect(!SoundFileReader.exists(folder("take\0.wav")))
    #expect(FileIdentity(of: folder("take\0")) == nil)
  }

  @Test func `a folder and a missing folder are refused`() {
    let folder = TemporaryFolder()
    #expect(create(folder.path)?.kind == .cannotCreate)
    #expect(create(folder.path, overwrite: true)?.kind == .cannotCreate)
    #expect(create(folder("none/take.wav"))?.kind == .cannotCreate)
    #expect(create(folder("none/take.wav"), overwrite: true)?.kind == .cannotCreate)
    #expect(create("/proc/take.wav")?.kind != nil)
  }

  @Test(arguments: [
    (FileFormat.flac, FileSampleFormat.float, 48000, 2), (.flac, .s32, 48000, 2),
    (.flac, .s16, 768_000, 2), (.flac, .s16, 65537, 2), (.flac, .s16, 48000, 9),
    (.opus, .float, 44100, 2), (.opus, .float, 48000, 8), (.mp3, .float, 48000, 3),
    (.mp3, .float, 96000, 2),
    (.ogg, .s16, 48000, 2), (.ogg, .float, 384_000, 2), (.wav, .s16, 0, 2), (.wav, .s16, 48000, 0),
  ])
  func `parameters that a format does not support are refused before a file is created`(
    format: FileFormat, samples: FileSampleFormat, rate: Int, channels: Int
  ) {
    let folder = TemporaryFolder()
    let trouble = create(folder("x"), format, samples, rate: rate, channels: channels)
    #expect(trouble?.kind == .invalidRequest)
    #expect(folder.names == [])
  }

  @Test(arguments: [
    (FileFormat.flac, FileSampleFormat.s16, 655_350, 8), (.flac, .s24, 384_000, 2),
    (.opus, .float, 8000, 1), (.mp3, .float, 8000, 1), (.ogg, .float, 192_000, 8),
    (.wav, .float, 768_000, 64), (.opus, .float, 48000, 5), (.caf, .s32, 768_000, 32),
    (.ogg, .float, 8000, 1), (.aiff, .s24, 768_000, 6), (.mp3, .float, 11025, 2),
    (.w64, .s32, 768_000, 1024), (.flac, .s24, 65535, 1), (.flac, .s24, 8000, 1),
  ])
  func `parameters that a format supports can be written and read`(
    format: FileFormat, samples: FileSampleFormat, rate: Int, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    let silence = SampleBuffer(frameCount: 3000, channelCount: channels)
    try save(silence, to: folder("x"), format, samples, sampleRate: rate)
    let decoder = try Decoding.decoder(forPath: folder("x"))
    // Opus is decoded at 48 kHz regardless of its original rate.
    let frames = 3000 * decoder.sampleRate / rate
    let count = try load(folder("x")).count / channels
    #expect(format == .mp3 ? count >= frames : count == frames)
  }

  @Test(arguments: FileFormat.allCases, FileSampleFormat.allCases)
  func `the nearest sample format is supported by the file format`(
    format: FileFormat, wanted: FileSampleFormat
  ) {
    #expect(format.sampleFormats.contains(format.nearest(to: wanted)))
    #expect(FileFormat(name: format.name.uppercased()) == format)
    #expect(FileFormat(pathExtensionOf: "a/b.c/take.\(format.name.uppercased())") == format)
    #expect(FileSampleFormat(name: wanted.name) == wanted)
  }

  @Test func `extensions have synonyms, and a path without an extension has no format`() {
    #expect(FileFormat(pathExtensionOf: "a.wave") == .wav)
    #expect(FileFormat(pathExtensionOf: "a.aif") == .aiff)
    #expect(FileFormat(pathExtensionOf: "a.aifc") == .aiff)
    #expect(FileFormat(pathExtensionOf: "a.oga") == .ogg)
    for path in ["take", "a.wav/take", ".wav", "a.m4a", "", "/"] {
      #expect(FileFormat(pathExtensionOf: path) == nil)
    }
  }

  @Test func `a full disk is reported`() {
    // There was no space for the header, so no file exists.
    #expect(create("/dev/full")?.kind == .cannotCreate)
    #expect(create("/dev/full")?.message.contains("the disk is full") == true)
    #expect(create("/dev/full", .raw)?.kind == .diskFull)
    #expect(create("/dev/full", .flac)?.kind == .invalidRequest)
  }

  @Test func `a write to a full disk reports the number of saved frames`() throws {
    let sound = integers(bits: 16, frames: 100, channels: 2)
    var writer = try SoundFileWriter(
      path: "/dev/full", fileFormat: .raw, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 2, overwrite: false)
    let trouble = failure { try writer.write(sound, frames: 100) }
    #expect(trouble?.kind == .diskFull)
    #expect(trouble?.message.contains("first 0 frames") == true)
    let written = writer.framesWritten
    #expect(written == 0)
  }
}
