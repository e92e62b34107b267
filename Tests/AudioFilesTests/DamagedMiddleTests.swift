import AudioBasics
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of compressed files with damage in their middle, and of files joined from several.
@Suite struct DamagedMiddleTests {
  private static let frames = 480_000

  private func file(_ format: FileFormat, frames: Int = Self.frames, rate: Int = 48000) throws
    -> [UInt8]
  {
    let folder = TemporaryFolder()
    try save(
      glide(frames: frames, channels: 2), to: folder("sound"), format, .float, sampleRate: rate)
    return folder.bytes(of: "sound")
  }

  /// Returns `bytes` with zeros in their middle.
  private func damaged(_ bytes: [UInt8], count: Int = 20_000) -> [UInt8] {
    var bytes = bytes
    let place = bytes.count / 2
    bytes.replaceSubrange(place..<place + count, with: [UInt8](repeating: 0, count: count))
    return bytes
  }

  @Test(arguments: [FileFormat.ogg, .opus])
  func `lost pages are replaced by silence, and the end of the file is a failure`(
    format: FileFormat
  ) throws {
    let bytes = try file(format)
    let whole = try decode(Decoding.decoder(for: MemorySource(bytes)))
    let decoder = try Decoding.decoder(for: MemorySource(damaged(bytes)))
    #expect(decoder.frameCount == Self.frames && !decoder.isCutShort)
    let (samples, trouble) = decodeAll(decoder)
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("damaged") == true)
    #expect(decoder.isCutShort)
    #expect(samples.count == whole.count)
    let silent = samples.indices.filter { samples[$0] == 0 }
    let lost = try #require(silent.first)..<(silent.last ?? 0) + 1
    #expect(lost.count > 2 * 20_000 && lost.count < 2 * 120_000)
    // Decoders that restart need some frames until their output is the same again.
    for range in [0..<lost.lowerBound - 8192, lost.upperBound + 48_000..<whole.count] {
      let difference = range.map { abs(samples[$0] - whole[$0]) }.max() ?? 1
      #expect(difference < 1e-3, "\(range)")
    }
    // Seeks before, into and after the damage give the same samples.
    for frame in [1000, (lost.lowerBound + lost.upperBound) / 4, lost.upperBound / 2 + 50_000] {
      let decoder = try Decoding.decoder(for: MemorySource(damaged(bytes)))
      #expect(try difference(decoder, at: frame, frames: 9000, from: samples) < 1e-3, "\(frame)")
    }
  }

  @Test(arguments: [0, 1, 40, 60_000], [FileSampleFormat.s16, .s24])
  func `damaged frames of FLAC are replaced by silence, and the end of the file is a failure`(
    count: Int, format: FileSampleFormat
  ) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 200_000, channels: 2)
    try save(sound, to: folder("f"), .flac, format)
    let whole = list(sound)
    var bytes = folder.bytes(of: "f")
    // Without zeros, the first frame is damaged.
    let place = count == 0 ? try #require(bytes.firstFrameOfFLAC) + 50 : bytes.count / 2
    bytes[place] ^= 1
    bytes.replaceSubrange(place..<place + count, with: [UInt8](repeating: 0, count: count))
    folder.write(bytes, to: "f")
    let decoder = try Decoding.decoder(forPath: folder("f"))
    let (samples, trouble) = decodeAll(decoder)
    #expect(trouble?.message.contains("is damaged: parts of its sound are lost") == true)
    #expect(decoder.isCutShort && samples.count == whole.count)
    let lost = samples.indices.filter { samples[$0] != whole[$0] }
    let first = try #require(lost.first) / 2 / 4096 * 4096
    let end = (try #require(lost.last) / 2 / 4096 + 1) * 4096
    #expect(end - first <= 4096 * (1 + (count + 8191) / 8192))
    #expect(samples[2 * first..<2 * end].allSatisfy { $0 == 0 })
    // Seeks before, into and after the damage give the same samples, also in a new decoder.
    for frame in [0, 1, first, first + 77, end - 1, end, end + 5000, 199_000, first + 1, 100] {
      for decoder in [decoder, try Decoding.decoder(forPath: folder("f"))] {
        #expect(try difference(decoder, at: frame, frames: 900, from: samples) == 0, "\(frame)")
      }
    }
  }

  /// Returns a reader of a FLAC file with zeros in its middle, which skips the damage.
  private func damagedFLAC(
    in folder: TemporaryFolder, zeros: Int, searching byteCount: Int
  ) throws -> SoundFileReader {
    try save(integers(bits: 16, frames: 300_000, channels: 2), to: folder("f"), .flac, .s16)
    folder.write(damaged(folder.bytes(of: "f"), count: zeros), to: "f")
    var reader = try SoundFileReader(path: folder("f"))
    reader.damage.isSkipped = true
    reader.damage.searchedByteCount = byteCount
    return reader
  }

  @Test func `the search for intact frames of FLAC reads a limited number of bytes`() throws {
    let folder = TemporaryFolder()
    var reader = try damagedFLAC(in: folder, zeros: 20_000, searching: 100_000)
    let trouble = failure { _ = try samples(of: &reader) }
    #expect(trouble?.message.contains("is damaged or cut short after") == true)
    #expect(reader.damage.searchedByteCount == 0)
    #expect(throws: FileFailure.self) { try reader.seek(toFrame: 299_000) }
  }

  @Test func `damage of FLAC that was found is not searched for again`() throws {
    let folder = TemporaryFolder()
    var reader = try damagedFLAC(in: folder, zeros: 100_000, searching: 1 << 27)
    #expect(failure { _ = try samples(of: &reader) } != nil)
    let left = reader.damage.searchedByteCount
    #expect(left < 1 << 27)
    let range = try #require(reader.damage.ranges.first)
    for frame in [0, range.upperBound - 1, range.lowerBound, range.lowerBound - 1] {
      try reader.seek(toFrame: frame)
      #expect(failure { _ = try samples(of: &reader) } != nil)
      #expect(reader.position == 300_000)
    }
    #expect(reader.damage.searchedByteCount == left && reader.damage.ranges == [range])
    // Nor if no more bytes may be read in searches.
    reader.damage.searchedByteCount = 0
    try reader.seek(toFrame: 0)
    #expect(failure { _ = try samples(of: &reader) } != nil)
    #expect(reader.position == 300_000)
  }

  @Test(arguments: [300_001, -1]) func `a refused seek leaves the position`(frame: Int) throws {
    let folder = TemporaryFolder()
    var reader = try damagedFLAC(in: folder, zeros: 0, searching: 1 << 27)
    let whole = list(integers(bits: 16, frames: 300_000, channels: 2))
    try reader.seek(toFrame: 5000)
    #expect(throws: FileFailure.self) { try reader.seek(toFrame: frame) }
    #expect(reader.position == 5000)
    #expect(try samples(of: &reader).elementsEqual(whole[10_000...]))
  }

  @Test func `a seek that finds no intact frame leaves the position`() throws {
    let folder = TemporaryFolder()
    var reader = try damagedFLAC(in: folder, zeros: 0, searching: 1 << 27)
    let whole = list(integers(bits: 16, frames: 300_000, channels: 2))
    let bytes = folder.bytes(of: "f")
    folder.write(
      bytes[..<(bytes.count / 2)] + [UInt8](repeating: 0, count: bytes.count / 2), to: "f")
    reader = try SoundFileReader(path: folder("f"))
    reader.damage.isSkipped = true
    try reader.seek(toFrame: 5000)
    for frame in [299_000, 299_500, 299_000] {
      #expect(throws: FileFailure.self) { try reader.seek(toFrame: frame) }
      #expect(reader.position == 5000)
    }
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    #expect(try reader.read(into: &buffer, frames: 1000) == 1000)
    #expect((0..<2000).allSatisfy { buffer[$0] == whole[10_000 + $0] })
    let isDamaged = reader.isDamaged
    #expect(!isDamaged)
  }

  @Test func `damaged FLAC that is read backwards has the same samples`() throws {
    let folder = TemporaryFolder()
    _ = try damagedFLAC(in: folder, zeros: 100_000, searching: 0)
    let (samples, _) = decodeAll(try Decoding.decoder(forPath: folder("f")))
    let decoder = try Decoding.decoder(forPath: folder("f"))
    for frame in stride(from: 300_000 - 5000, through: 0, by: -5000) {
      #expect(try difference(decoder, at: frame, frames: 5000, from: samples) == 0, "\(frame)")
    }
  }

  @Test func `a FLAC file that is damaged up to its end can be played again from its beginning`()
    throws
  {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 100_000, channels: 2)
    try save(sound, to: folder("f"), .flac, .s16)
    let bytes = folder.bytes(of: "f")
    let half = bytes.count / 2
    for end in [[], [UInt8](repeating: 0, count: half)] {
      folder.write(Array(bytes[..<half]) + end, to: "f")
      let decoder = try Decoding.decoder(forPath: folder("f"))
      for _ in 0..<3 {
        try decoder.seek(toFrame: 0)
        let (samples, trouble) = decodeAll(decoder)
        #expect(trouble?.message.contains("is damaged or cut short after") == true)
        #expect(samples.count > 2 * 40_000 && samples.count < 2 * 60_000)
        #expect(samples.elementsEqual(list(sound).prefix(samples.count)))
      }
    }
  }

  @Test func `a FLAC file of unknown length that is damaged does not end without a failure`()
    throws
  {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 200_000, channels: 2)
    try save(sound, to: folder("f"), .flac, .s16)
    var bytes = folder.bytes(of: "f")
    bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
    bytes[21] &= 0xF0
    folder.write(bytes, to: "f")
    #expect(try decode(Decoding.decoder(forPath: folder("f"))) == list(sound))
    bytes[bytes.count / 2] ^= 1
    folder.write(bytes, to: "f")
    let (_, trouble) = decodeAll(try Decoding.decoder(forPath: folder("f")))
    #expect(trouble?.kind == .unusableContents)
  }

  @Test(arguments: 0..<200)
  func `the first block that can be decoded is found`(first: Int) {
    var search = DecodableBlockSearch(after: 3, before: 190)
    var count = 0
    while let block = search.next {
      #expect((4..<190).contains(block))
      search.note(block, isDecodable: block >= first)
      count += 1
    }
    #expect(search.found == (first < 190 ? max(4, first) : nil))
    #expect(count < 20)
  }

  @Test(arguments: [MPEGDecoder.Exactness.exact, .economical])
  func `an MP3 file without some blocks plays the others, and its end is a failure`(
    exactness: MPEGDecoder.Exactness
  ) throws {
    let bytes = try file(.mp3)
    let decoder = try MPEGDecoder(MemorySource(damaged(bytes)), exactness: exactness)
    let (samples, trouble) = decodeAll(decoder)
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("damaged") == true)
    #expect(samples.count > 2 * 400_000 && samples.count < 2 * 470_000)
    #expect(decoder.isCutShort)
    let tagged = try MPEGDecoder(
      MemorySource(bytes + Array("TAG".utf8) + [UInt8](repeating: 65, count: 125)),
      exactness: exactness)
    #expect(try decode(tagged).count == 2 * Self.frames)
  }

  /// Returns Ogg streams one after the other, as `cat` joins files, each with its own serial
  /// number.
  private func chain(_ rates: [(frames: Int, rate: Int)]) throws -> [UInt8] {
    try rates.flatMap { try file(.ogg, frames: $0.frames, rate: $0.rate) }
  }

  @Test(arguments: [1000, 30_000, 48_000])
  func `a chained stream is played completely even if its first stream has one page`(frames: Int)
    throws
  {
    let bytes = try chain([(frames, 48000), (96_000, 48000), (500, 48000), (48_000, 48000)])
    let decoder = try Decoding.decoder(for: MemorySource(bytes))
    #expect(decoder.frameCount == frames + 144_500)
    let samples = try decode(decoder)
    #expect(samples.count == 2 * (frames + 144_500))
    let first = try decode(Decoding.decoder(for: MemorySource(file(.ogg, frames: frames))))
    #expect(samples.prefix(max(0, 2 * frames - 4096)).elementsEqual(first.dropLast(4096)))
  }

  @Test(arguments: [1000, 300_000])
  func `a second stream of another rate is reported, however short the first one is`(frames: Int)
    throws
  {
    let bytes = try chain([(frames, 48000), (44_100, 44100)])
    let decoder = try Decoding.decoder(for: MemorySource(bytes))
    #expect(decoder.sampleRate == 48000)
    let (samples, trouble) = decodeAll(decoder)
    #expect(samples.count == 2 * frames)
    #expect(trouble?.message.contains("from 48000 to 44100 Hz") == true)
  }

  @Test(arguments: [MPEGDecoder.Exactness.exact, .economical])
  func `concatenated MP3 files are played completely`(exactness: MPEGDecoder.Exactness) throws {
    let one = try file(.mp3, frames: 48_000)
    let tag = Array("TAG".utf8) + [UInt8](repeating: 65, count: 125)
    for joint in [[], tag] {
      let decoder = try MPEGDecoder(MemorySource(one + joint + one), exactness: exactness)
      let (samples, trouble) = decodeAll(decoder)
      #expect(trouble == nil)
      #expect(samples.count > 2 * 90_000 && samples.count < 2 * 100_000)
    }
    #expect(try decode(MPEGDecoder(MemorySource(one), exactness: exactness)).count == 2 * 48_000)
  }
}

extension [UInt8] {
  /// The offset of the first frame of a FLAC file of 48 kHz in two channels.
  fileprivate var firstFrameOfFLAC: Int? {
    indices.first { self[$0...].starts(with: [0xFF, 0xF8, 0xCA]) }
  }
}
