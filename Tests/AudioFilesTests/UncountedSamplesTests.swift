import AudioBasics
import Glibc
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of files whose header does not count the samples that follow it, and of headers that
/// libsndfile misunderstands.
@Suite struct UncountedSamplesTests {
  /// A file of 500 frames of two channels, with the bytes at `offset` from `word` replaced.
  private func file(
    _ format: FileFormat, _ word: String, _ offset: Int, _ bytes: [UInt8],
    _ samples: FileSampleFormat = .s16, in folder: TemporaryFolder
  ) throws -> BrokenFile {
    var file = try BrokenFile(folder, "\(samples).\(format)", format, samples, frames: 500)
    file.set(bytes, at: file.place(of: word) + offset)
    return file
  }

  private let wanted = list(integers(bits: 16, frames: 500, channels: 2))
  private static let zeros = [UInt8](repeating: 0, count: 8)

  @Test(arguments: [FileSampleFormat.s16, .s24, .float], [true, false])
  func `RF64 that counts no samples is played to its end`(
    samples: FileSampleFormat, isPipe: Bool
  ) throws {
    let folder = TemporaryFolder()
    var file = try file(.rf64, "ds64", 16, Self.zeros, samples, in: folder)
    for torn in [0, 1] {
      file.bytes.removeLast(torn)
      file.store()
      let decoder =
        try isPipe
        ? Decoding.decoder(for: MemorySource(file.bytes, isSeekable: false, hasLength: false))
        : Decoding.decoder(forPath: file.path)
      #expect(try decode(decoder) == Array(wanted.prefix(1000 - 2 * torn)))
      #expect(isPipe || decoder.formatName.contains("RF64"))
    }
  }

  @Test(
    arguments: [
      [UInt8](repeating: 0xFF, count: 8), zeros, zeros.dropLast() + [4],
    ], [0, 1])
  func `CAF that leaves the length open is played to its end`(size: [UInt8], torn: Int) throws {
    let folder = TemporaryFolder()
    var file = try file(.caf, "data", 4, size, in: folder)
    file.bytes.removeLast(torn)
    file.store()
    #expect(try load(file.path) == Array(wanted.prefix(1000 - 2 * torn)))
    #expect(try SoundFileReader(path: file.path).fileFormat == .caf)
  }

  @Test func `CAF without samples has none, also before another chunk`() throws {
    let folder = TemporaryFolder()
    var file = try file(.caf, "data", 4, Self.zeros.dropLast() + [4], in: folder)
    let start = file.place(of: "data") + 12 + 4
    file.bytes.replaceSubrange(
      start..., with: Array("mark".utf8) + Self.zeros.dropLast() + [8] + Self.zeros)
    file.store()
    #expect(try load(file.path) == [])
  }

  @Test(arguments: [1, 8], [true, false])
  func `AIFF whose chunk counts no samples is played to its end`(size: UInt8, isCounted: Bool)
    throws
  {
    let folder = TemporaryFolder()
    for samples in [FileSampleFormat.s16, .s24, .float] {
      var file = try file(.aiff, "SSND", 4, [0, 0, 0, size], samples, in: folder)
      if !isCounted { file.set([0, 0, 0, 0], at: file.place(of: "COMM") + 10) }
      file.store()
      #expect(try load(file.path) == wanted)
      file.bytes.removeLast(400)
      file.store()
      let outcome = decodeAll(try Decoding.decoder(forPath: file.path))
      #expect(wanted.starts(with: outcome.samples) && outcome.samples.count >= 600)
      #expect(outcome.trouble?.message.contains("cut short") == (isCounted ? true : nil))
    }
  }

  @Test(arguments: [FileFormat.aiff, .caf], [FileSampleFormat.s16, .s24, .float])
  func `a text longer than libsndfile accepts does not prevent playback`(
    format: FileFormat, samples: FileSampleFormat
  ) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "\(samples).\(format)", format, samples, frames: 500)
    let text = [UInt8](repeating: 0x61, count: 100_000)
    let size: [UInt8] = [0, 1, 0x86, 0xA0]
    let information =
      Array("info".utf8) + [0, 0, 0, 0] + size + [0, 0, 0, 1] + Array("title".utf8)
    let chunk =
      format == .aiff
      ? Array("ANNO".utf8) + size + text : information + [0] + text.dropLast(11) + [0]
    file.bytes.insert(contentsOf: chunk, at: file.place(of: format == .aiff ? "COMM" : "data"))
    file.store()
    #expect(try load(file.path) == wanted)
    #expect(try SoundFileReader(path: file.path).fileFormat == format)
    guard format == .aiff else { return }
    // The header states 512 frames, and the chunk holds 500.
    file.set([0, 0, 2, 0], at: file.place(of: "COMM") + 10)
    file.store()
    #expect(throws: FileFailure.self) { try load(file.path) }
  }

  @Test(arguments: [true, false], [0, 1])
  func `AU that counts no samples is played to its end`(isBigEndian: Bool, torn: Int) throws {
    func number(_ value: Int) -> [UInt8] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isBigEndian ? bytes.reversed() : bytes
    }
    let folder = TemporaryFolder()
    let samples = (0..<200).map { UInt8(truncatingIfNeeded: $0) }
    let head = [28, 0, 3, 48000, 1, 0].flatMap(number)
    let name = isBigEndian ? SoundContainer.au : .littleEndianAU
    folder.write(Array(name.identifier.utf8) + head + samples.dropLast(torn), to: "a.au")
    #expect(try load(folder("a.au")).count == 100 - torn)
    folder.write(Array(name.identifier.utf8) + head, to: "none.au")
    #expect(try load(folder("none.au")) == [])
  }

  @Test func `Ogg that ends behind its headers is cut short`() throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 48000, channels: 1), to: folder("a.ogg"), .ogg, .float)
    let bytes = folder.bytes(of: "a.ogg")
    let pages = bytes.indices.filter { bytes[$0...].starts(with: Array("OggS".utf8)) }
    folder.write(Array(bytes[..<pages[2]]), to: "cut.ogg")
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    for isPipe in [false, true] {
      if isPipe {
        _ = Glibc.write(ends[1], Array(bytes[..<pages[2]]), pages[2])
        close(ends[1])
      }
      let path = isPipe ? "/proc/self/fd/\(ends[0])" : folder("cut.ogg")
      let decoder = try Decoding.decoder(forPath: path) { _ in }
      let outcome = decodeAll(decoder)
      #expect(outcome.samples == [] && outcome.trouble?.kind == .unusableContents)
      #expect(outcome.trouble?.message.contains("cut short") == true)
      #expect(outcome.trouble?.hint.contains("part before") == false)
      #expect(isPipe || decoder.isCutShort)
    }
    close(ends[0])
    var writer = try SoundFileWriter(
      path: folder("empty.ogg"), fileFormat: .ogg, sampleFormat: .float, sampleRate: 48000,
      channelCount: 1, overwrite: false)
    try writer.write(SampleBuffer(frameCount: 1, channelCount: 1), frames: 1)
    try writer.finish()
    #expect(try load(folder("empty.ogg")).count == 1)
  }

  /// A Wave64 file of two channels whose format chunk is extensible.
  private func wave64(_ kind: UInt8, bits: Int, _ samples: [UInt8], size: Int? = nil) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let end: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
    let block = 2 * bits / 8
    let format =
      number(0xFFFE, 2) + number(2, 2) + number(48000, 4) + number(48000 * block, 4)
      + number(block, 2) + number(bits, 2) + number(22, 2) + number(bits, 2) + number(3, 4)
      + number(Int(kind), 4) + [0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    let form: [UInt8] = [
      0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0, 0,
    ]
    return Array("riff".utf8) + form + number(128 + samples.count, 8) + Array("wave".utf8) + end
      + Array("fmt ".utf8) + end + number(64, 8) + format + Array("data".utf8) + end
      + number(size ?? samples.count + 24, 8) + samples
  }

  @Test(arguments: [32, 64])
  func `floats in Wave64 with an extensible format are floats`(bits: Int) throws {
    let folder = TemporaryFolder()
    let samples: [UInt8] = wanted.flatMap { sample in
      bits == 32
        ? withUnsafeBytes(of: sample.bitPattern.littleEndian) { Array($0) }
        : withUnsafeBytes(of: Double(sample).bitPattern.littleEndian) { Array($0) }
    }
    folder.write(wave64(3, bits: bits, samples), to: "f.w64")
    #expect(try load(folder("f.w64")) == wanted)
    #expect(try SoundFileReader(path: folder("f.w64")).fileFormat == .w64)
    #expect(try FileRepair.examine(folder("f.w64")).isIntact)
    for size in [0, 24] {
      folder.write(wave64(3, bits: bits, samples, size: size), to: "f.w64")
      #expect(try load(folder("f.w64")) == wanted)
    }
    folder.write(wave64(3, bits: bits, samples).dropLast(1600), to: "f.w64")
    let outcome = decodeAll(try Decoding.decoder(forPath: folder("f.w64")))
    #expect(wanted.starts(with: outcome.samples) && outcome.samples.count >= 600)
    #expect(outcome.trouble?.message.contains("cut short") == true)
  }

  @Test func `an unknown encoding in Wave64 with an extensible format is refused`() throws {
    let folder = TemporaryFolder()
    folder.write(wave64(2, bits: 16, [UInt8](repeating: 1, count: 400)), to: "x.w64")
    let trouble = failure { _ = try load(folder("x.w64")) }
    #expect(trouble?.kind == .unusableContents)
  }

  @Test(arguments: [
    (0x7FFF_F000, nil), (0x7FFF_EFFC, nil), (0x7FFF_FFFF, nil), (0x8000_0000, nil),
    (0xFFFF_FFFF, nil), (0xFFFF_FFDC, nil), (0, nil), (0x8000_0004, 0x8000_0004),
    (0xB000_0000, 0xB000_0000), (0x7FFF_0000, 0x7FFF_0000), (4, 4),
  ])
  func `only placeholders leave the length of a WAV file open`(size: Int, length: Int?) {
    let announced = AnnouncedLength(riffByteCount: size + 36, long: nil)
    #expect(announced.data(size, from: 44) == length)
    #expect(announced.data(size, from: 44) == nil || !AnnouncedLength.isPlaceholder(size))
  }

  @Test func `a size that the size of the file contradicts leaves the length open`() {
    for riff in [0, 36, 0x9000_0000] {
      let announced = AnnouncedLength(riffByteCount: riff, long: nil)
      #expect(announced.data(0xB000_0000, from: 44) == nil)
      #expect(announced.data(4, from: 44) == 4)
    }
    let long = AnnouncedLength(riffByteCount: 0xFFFF_FFFF, long: 0xB000_0000)
    #expect(long.data(0xFFFF_FFFF, from: 80) == 0xB000_0000)
    #expect(!long.isEmptyLong(0xFFFF_FFFF))
    #expect(AnnouncedLength(riffByteCount: 0, long: 0).isEmptyLong(0xFFFF_FFFF))
  }

  @Test func `a WAV file of 3 GB that was cut off is cut short`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "a.wav", .wav, .s16, frames: 500)
    let data = file.place(of: "data")
    file.set([0, 0, 0, 0xB0], at: data + 4)
    file.set([0xF8, 0x0F, 0, 0xB0], at: 4)
    file.store()
    let decoder = try Decoding.decoder(forPath: file.path)
    #expect(decoder.isCutShort)
    let outcome = decodeAll(decoder)
    #expect(outcome.samples == wanted && outcome.trouble?.message.contains("cut short") == true)
  }

  @Test(arguments: [4, 11, 12, 30, 40])
  func `a WAV file on a pipe that ends in its header is damaged`(count: Int) throws {
    let folder = TemporaryFolder()
    let file = try BrokenFile(folder, "a.wav", .wav, .s16, frames: 500)
    let source = MemorySource(Array(file.bytes[..<count]), isSeekable: false, hasLength: false)
    let trouble = failure { _ = try SoundFileReader(bytes: source) }
    #expect(trouble?.message.contains("damaged") == true, "\(trouble?.message ?? "")")
  }

  @Test func `FLAC names the failure of its source as often as it is read`() throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 96000, channels: 2), to: folder("a.flac"), .flac, .s16)
    let bytes = folder.bytes(of: "a.flac")
    let source = MemorySource(bytes)
    let decoder = try Decoding.decoder(for: source)
    source.fail(behind: bytes.count / 2)
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    for _ in 0..<3 {
      let trouble = failure {
        while try decoder.read(into: &buffer, at: 0, frames: 1000) > 0 {}
      }
      #expect(trouble?.message == MemorySource.failure.message)
    }
    source.fail(behind: .max)
    try decoder.seek(toFrame: 95000)
    #expect(try decoder.read(into: &buffer, at: 0, frames: 1000) > 0)
  }

  @Test(arguments: [FileSampleFormat.s16, .s24, .float], [501, 502, 1])
  func `padding and chunks after the samples of Wave64 are not played`(
    format: FileSampleFormat, frames: Int
  ) throws {
    let tail: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
    let chunk =
      Array("levl".utf8) + tail + [UInt8](32, 8, bigEndian: false)
      + [UInt8](repeating: 0x55, count: 8)
    for channels in [1, 2, 3] {
      let folder = TemporaryFolder()
      let sound = integers(bits: 16, frames: frames, channels: channels)
      try save(sound, to: folder("a.w64"), .w64, format)
      var bytes = folder.bytes(of: "a.w64")
      bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
      for end in [[], chunk, chunk + chunk] {
        folder.write(bytes + end, to: "b.w64")
        let decoder = try Decoding.decoder(forPath: folder("b.w64"))
        #expect(decoder.frameCount == frames)
        #expect(try decode(decoder) == list(sound))
        #expect(try decode(Decoding.decoder(for: MemorySource(bytes + end))) == list(sound))
      }
    }
  }
}
