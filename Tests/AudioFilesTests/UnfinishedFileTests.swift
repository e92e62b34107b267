import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

/// Tests of the state of a file when the program is killed between two writes.
@Suite struct UnfinishedFileTests {
  /// Lengths of pieces that do not coincide with block boundaries.
  private static let pieces = [1, 4095, 4097, 777, 9001, 3]

  @Test(
    arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf],
    [(FileSampleFormat.s16, 16), (.s24, 24), (.float, 24)])
  func `a refreshed file contains every frame`(
    format: FileFormat, samples: (FileSampleFormat, Int)
  ) throws {
    for channels in [1, 2, 6] {
      let folder = TemporaryFolder()
      let sound = integers(bits: samples.1, frames: 18_000, channels: channels)
      let all = list(sound)
      var writer = try SoundFileWriter(
        path: folder("w"), fileFormat: format, sampleFormat: samples.0, sampleRate: 44100,
        channelCount: channels, overwrite: false)
      for piece in Self.pieces {
        try writer.write(sound, from: writer.framesWritten, frames: piece)
        try writer.refreshHeader()
        let count = writer.framesWritten
        folder.write(folder.bytes(of: "w"), to: "copy")
        let isWhole = try load(folder("copy")) == Array(all[..<(count * channels)])
        #expect(isWhole, "\(format) \(samples.0) with \(channels) channels after \(count) frames")
        let announced = try SoundFileReader(path: folder("copy")).frameCount
        #expect(announced == count)
      }
      let count = writer.framesWritten
      try writer.finish()
      let isWhole = try load(folder("w")) == Array(all[..<(count * channels)])
      #expect(isWhole)
    }
  }

  @Test(arguments: [FileFormat.flac, .ogg, .opus, .mp3])
  func `a file that another program truncates to any length does not stop the writer`(
    format: FileFormat
  ) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 18_000, channels: 1)
    for length in 0...60 {
      var writer = try SoundFileWriter(
        path: folder("w"), fileFormat: format, sampleFormat: format == .flac ? .s16 : .float,
        sampleRate: 48000, channelCount: 1, overwrite: true)
      try writer.write(sound, from: 0, frames: 17_000)
      try writer.refreshHeader()
      try #require(truncate(folder("w"), length) == 0)
      try? writer.write(sound, from: 17_000, frames: 1000)
      try? writer.refreshHeader()
      try? writer.finish()
    }
  }

  @Test(arguments: [(FileSampleFormat.s16, 16), (.s24, 24)], [1, 2, 6])
  func `a FLAC file states its number of frames while it is written`(
    samples: (FileSampleFormat, Int), channels: Int
  ) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: samples.1, frames: 18_000, channels: channels)
    let all = list(sound)
    var writer = try SoundFileWriter(
      path: folder("w"), fileFormat: .flac, sampleFormat: samples.0, sampleRate: 44100,
      channelCount: channels, overwrite: false)
    for piece in Self.pieces {
      try writer.write(sound, from: writer.framesWritten, frames: piece)
      try writer.refreshHeader()
      let count = writer.framesWritten
      guard count > 4096 else { continue }
      folder.write(folder.bytes(of: "w"), to: "copy")
      let saved = try load(folder("copy"))
      let isPrefix = saved == Array(all[..<saved.count])
      #expect(isPrefix)
      #expect(saved.count / channels >= count - 4096)
      let announced = try SoundFileReader(path: folder("copy")).frameCount
      #expect(announced == saved.count / channels)
    }
    let count = writer.framesWritten
    try writer.finish()
    let isWhole = try load(folder("w")) == Array(all[..<(count * channels)])
    #expect(isWhole)
  }

  @Test(arguments: [FileFormat.ogg, .opus], [1, 2, 6])
  func `a refreshed lossy file lacks at most half a second, also of silence`(
    format: FileFormat, channels: Int
  ) throws {
    for isSilent in [true, false] {
      let folder = TemporaryFolder()
      let sound =
        isSilent
        ? SampleBuffer(frameCount: 4800, channelCount: channels)
        : integers(bits: 16, frames: 4800, channels: channels)
      var writer = try SoundFileWriter(
        path: folder("w"), fileFormat: format, sampleFormat: .float, sampleRate: 48000,
        channelCount: channels, overwrite: false,
        speakers: Speaker.defaultLayout(channelCount: channels))
      for _ in 1...30 { try writer.write(sound, frames: 4800) }
      try writer.refreshHeader()
      folder.write(folder.bytes(of: "w"), to: "copy")
      let saved = try load(folder("copy"))
      #expect(saved.count / channels > 144_000 - 24_000)
      try writer.finish()
      let whole = try load(folder("w"))
      #expect(whole.count == 144_000 * channels)
      // The last blocks of the copy lack their overlap with the next ones.
      let sure = max(0, saved.count - 4800 * channels)
      let isPrefix = saved[..<sure] == whole[..<sure]
      #expect(isPrefix)
    }
  }

  @Test func `the written part of an MP3 file can be read`() throws {
    let folder = TemporaryFolder()
    var writer = try SoundFileWriter(
      path: folder("w"), fileFormat: .mp3, sampleFormat: .float, sampleRate: 48000,
      channelCount: 2, overwrite: false)
    let sound = glide(frames: 48000, channels: 2)
    for _ in 1...3 { try writer.write(sound, frames: 48000) }
    try writer.refreshHeader()
    folder.write(folder.bytes(of: "w"), to: "copy")
    #expect(try load(folder("copy")).count > 2 * (144_000 - 24_000))
    try writer.finish()
  }

  @Test(arguments: FileFormat.allCases)
  func `a refresh does not make a file grow`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    let sound = glide(frames: 20_001, channels: 1)
    var writer = try SoundFileWriter(
      path: folder("w"), fileFormat: format, sampleFormat: format.nearest(to: .s24),
      sampleRate: 48000, channelCount: 1, overwrite: false)
    try writer.write(sound, frames: 20_001)
    try writer.refreshHeader()
    let before = folder.bytes(of: "w")
    for _ in 1...5 { try writer.refreshHeader() }
    let isSame = folder.bytes(of: "w") == before
    #expect(isSame)
    try writer.finish()
  }

  @Test func `an AIFF file with an odd number of bytes states the exact length`() throws {
    let folder = TemporaryFolder()
    try save(integers(bits: 24, frames: 333, channels: 1), to: folder("a"), .aiff, .s24)
    let bytes = folder.bytes(of: "a")
    let name = Array("SSND".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
    #expect(Array(bytes[place + 4..<place + 8]) == [0, 0, 3, 0xEF])
    #expect(bytes.count % 2 == 0)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf])
  func `a file without any frame can be opened`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    var writer = try SoundFileWriter(
      path: folder("w"), fileFormat: format, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 2, overwrite: false)
    try writer.refreshHeader()
    #expect(try load(folder("w")) == [])
    try writer.finish()
    #expect(try load(folder("w")) == [])
  }
}
