import AudioBasics
import Glibc
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of files and servers that announce more than they have, or never deliver any audio.
@Suite struct HostileContentsTests {
  @Test(arguments: [1 << 49, 1 << 61, 1 << 62 - 1, Int.max])
  func `a WAV file holds as many frames as its bytes do, whatever its header states`(
    announced: Int
  ) throws {
    let folder = TemporaryFolder()
    folder.write(rf64(announced: announced, frames: 1000), to: "f")
    let decoder = try Decoding.decoder(forPath: folder("f"))
    #expect(decoder.frameCount == 1000)
    #expect(decoder.announcedFrameCount == min(announced / 4, FileBounds.frameCount))
    var buffer = SampleBuffer(frameCount: 2000, channelCount: 2)
    #expect(try decoder.read(into: &buffer, at: 0, frames: 2000) == 1000)
    let trouble = failure { _ = try decoder.read(into: &buffer, at: 0, frames: 1) }
    #expect(trouble?.message.contains("cut short after 1000 of") == true)
  }

  @Test(arguments: [FileFormat.w64, .aiff, .caf], [true, false])
  func `a truncated file of any format reports the truncation at its end`(
    format: FileFormat, isFile: Bool
  ) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 48000, channels: 2), to: folder("whole"), format, .s16)
    let bytes = folder.bytes(of: "whole")
    folder.write(Array(bytes.prefix(bytes.count / 2)), to: "cut")
    func open(_ name: String) throws -> any SoundDecoder {
      isFile
        ? try Decoding.decoder(forPath: folder(name))
        : try Decoding.decoder(for: MemorySource(folder.bytes(of: name)))
    }
    #expect(try open("whole").announcedFrameCount == nil)
    let decoder = try open("cut")
    #expect(decoder.announcedFrameCount == 48000)
    var buffer = SampleBuffer(frameCount: 48000, channelCount: 2)
    let trouble = failure { while try decoder.read(into: &buffer, at: 0, frames: 48000) > 0 {} }
    #expect(trouble?.message.contains("cut short after 2") == true)
  }

  @Test(arguments: [FileSampleFormat.s16, .s24, .s32, .float])
  func `a truncated CAF file is read up to its end`(samples: FileSampleFormat) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 4000, channels: 3), to: folder("whole"), .caf, samples)
    let whole = try load(folder("whole"))
    folder.write(Array(folder.bytes(of: "whole").dropLast(100)), to: "cut")
    for source in [nil, MemorySource(folder.bytes(of: "cut"))] {
      let decoder =
        try source.map { try Decoding.decoder(for: $0) }
        ?? Decoding.decoder(forPath: folder("cut"))
      let frames = try #require(decoder.frameCount)
      #expect(frames > 3900 && frames < 4000)
      var buffer = SampleBuffer(frameCount: 4000, channelCount: 3)
      #expect(try decoder.read(into: &buffer, at: 0, frames: 4000) == frames)
      #expect((0..<3 * frames).allSatisfy { buffer[$0] == whole[$0] })
      try decoder.seek(toFrame: 1234)
      #expect(try decoder.read(into: &buffer, at: 0, frames: 1) == 1)
      #expect(buffer[2] == whole[3 * 1234 + 2])
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `a truncated AU file reports the truncation at its end`(isBig: Bool, isFile: Bool) throws {
    let folder = TemporaryFolder()
    func word(_ number: Int) -> [UInt8] { [UInt8](number, 4, bigEndian: isBig) }
    let head = [24, 4000, 3, 8000, 1].flatMap(word)
    let bytes = Array((isBig ? ".snd" : "dns.").utf8) + head + [UInt8](repeating: 1, count: 3000)
    folder.write(bytes, to: "cut.au")
    let decoder =
      isFile
      ? try Decoding.decoder(forPath: folder("cut.au"))
      : try Decoding.decoder(for: MemorySource(bytes))
    let trouble = failure { _ = try decode(decoder) }
    #expect(trouble?.message.hasSuffix("cut short after 1500 of 2000 frames.") == true)
  }

  @Test(arguments: [FileFormat.ogg, .opus], [true, false])
  func `an Ogg file that ends within a page reports the truncation`(
    format: FileFormat, isFile: Bool
  ) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 96000, channels: 2), to: folder("whole"), format, .float)
    let bytes = folder.bytes(of: "whole")
    let pages = bytes.indices.filter { bytes[$0...].starts(with: "OggS".utf8) }
    let last = try #require(pages.last)
    for count in [bytes.count / 2, last + 1, last + 4, last + 5, last + 27, bytes.count - 1] {
      folder.write(Array(bytes.prefix(count)), to: "cut")
      let decoder =
        isFile
        ? try Decoding.decoder(forPath: folder("cut"))
        : try Decoding.decoder(for: MemorySource(folder.bytes(of: "cut")))
      #expect(decoder.isCutShort)
      let trouble = failure { _ = try decode(decoder) }
      #expect(trouble?.message.hasSuffix("frames, within a page.") == true)
      #expect(decoder.position > 20_000)
    }
    // An unfinished recording ends with a complete page; other programs append data to a file.
    for whole in [bytes, Array(bytes.prefix(last)), bytes + [0], bytes + Array("TAG".utf8)] {
      #expect(try Decoding.decoder(for: MemorySource(whole)).isCutShort == false)
    }
  }

  @Test func `an Ogg file that ends within its first audio page reports the truncation`() throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 96000, channels: 2), to: folder("whole"), .ogg, .float)
    let bytes = folder.bytes(of: "whole")
    var pages = bytes.indices.filter { bytes[$0...].starts(with: "OggS".utf8) }
    // The frame position of a page that contains only headers is 0.
    pages.removeAll { bytes[$0 + 6..<$0 + 14].allSatisfy { $0 == 0 } }
    let cut = Array(bytes.prefix(try #require(pages.first) + 100))
    let trouble = failure { _ = try decode(try Decoding.decoder(for: MemorySource(cut))) }
    #expect(trouble?.message.hasSuffix("is cut short after 0 frames, within a page.") == true)
  }

  @Test(arguments: [FileFormat.ogg, .opus], [1 << 50, 1 << 62 - 1])
  func `an Ogg file holds no more frames than its bytes can, whatever its last page states`(
    format: FileFormat, announced: Int
  ) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 48000, channels: 1), to: folder("o"), format, .float)
    var bytes = folder.bytes(of: "o")
    let page = try #require(bytes.indices.last { bytes[$0...].starts(with: "OggS".utf8) })
    bytes.replaceSubrange(page + 6..<page + 14, with: [UInt8](announced, 8, bigEndian: false))
    bytes.replaceSubrange(page + 22..<page + 26, with: [0, 0, 0, 0])
    let sum = Int(Checksum.oggPage.of(bytes[page...]))
    bytes.replaceSubrange(page + 22..<page + 26, with: [UInt8](sum, 4, bigEndian: false))
    folder.write(bytes, to: "o")
    for decoder in [
      try Decoding.decoder(forPath: folder("o")), try Decoding.decoder(for: MemorySource(bytes)),
    ] {
      let count = try #require(decoder.frameCount)
      #expect(count <= bytes.count * FileBounds.framesPerByte)
      #expect((decoder.announcedFrameCount ?? 0) > announced - 1000)
      try decoder.seek(toFrame: 24000)
      var buffer = SampleBuffer(frameCount: 48000, channelCount: 1)
      while decoder.position < 47000 {
        #expect(try decoder.read(into: &buffer, at: 0, frames: 1000) > 0)
      }
      let trouble = failure {
        while try decoder.read(into: &buffer, at: 0, frames: 48000) > 0 {}
      }
      #expect(trouble?.message.contains("is damaged or cut short after 4") == true)
      #expect(failure { try decoder.seek(toFrame: announced / 2) } != nil)
    }
  }

  @Test(
    arguments: [[], [0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7]] as [[UInt8]])
  func `MPEG audio, about which libsndfile prints messages, is never passed to it`(tag: [UInt8])
    throws
  {
    let folder = TemporaryFolder()
    try save(glide(frames: 48000, channels: 1), to: folder("m"), .mp3, .float)
    folder.write(tag + tag + folder.bytes(of: "m"), to: "m")
    let kinds = [
      failure { _ = try SoundFileReader(path: folder("m")) }?.kind,
      failure { _ = try SoundFileReader(bytes: MemorySource(folder.bytes(of: "m"))) }?.kind,
    ]
    #expect(kinds == [.unknownContents, .unknownContents])
    #expect(try load(folder("m")).count == 48000)
  }

  @Test func `an encoder header counts no more blocks than the bytes can hold`() throws {
    // A block of silence at 128 kbit/s, and a header that announces 4 294 967 295 blocks.
    let head: [UInt8] = [0xFF, 0xFB, 0x90, 0x44]
    let silence = head + [UInt8](repeating: 0, count: 413)
    var notes = silence
    notes.replaceSubrange(36..<48, with: Array("Xing".utf8) + [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
    let bytes = notes + (0..<40).flatMap { _ in silence }
    for exactness in [MPEGDecoder.Exactness.exact, .economical] {
      let decoder = try MPEGDecoder(MemorySource(bytes), exactness: exactness)
      let count = try #require(decoder.frameCount)
      #expect(count <= (bytes.count / MPEGHeader.smallestByteCount + 1) * 1152)
      #expect(decoder.announcedFrameCount == 0xFFFF_FFFF * 1152)
    }
  }

  @Test func `lengths from a server are limited to the range of safe arithmetic`() {
    #expect(ContentRange("bytes 0-9/4611686018427387903") == nil)
    #expect(ContentRange("bytes 0-9/\(FileBounds.byteCount)")?.total == FileBounds.byteCount)
    #expect(0.offset(movedBy: .max) == nil)
    #expect(FileBounds.byteCount.offset(movedBy: 1) == nil)
    #expect(10.offset(movedBy: -11) == nil)
    #expect(FileBounds.frameCount(.max, inBytes: 40_000) == 40_000 * 8192)
    #expect(FileBounds.frameCount(.max, inBytes: .max) == FileBounds.frameCount)
  }

  @Test(
    arguments: [
      [0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0],  // Tags without contents.
      Array("OggS\0\0".utf8), [0x66, 0x4C, 0x61, 0x43, 0x01, 0xFF, 0xFF, 0xFF], [0],
    ] as [[UInt8]])
  func `a source that never delivers audio is given up`(bytes: [UInt8]) throws {
    for hasLength in [true, false] {
      let source = EndlessSource(bytes, hasLength: hasLength)
      let trouble = failure { _ = try Decoding.decoder(for: source) }
      #expect(trouble != nil)
      // libogg computes the checksums of a thousand times as many bytes as these pages have.
      #expect(source.readByteCount <= (bytes.starts(with: "OggS".utf8) ? 1 << 20 : 80 << 20))
    }
  }

  @Test func `the audio after an encoder header is examined only as far as bytes are kept`() throws
  {
    func block(_ head: [UInt8], _ count: Int) -> [UInt8] {
      head + [UInt8](repeating: 0, count: count - head.count)
    }
    let short = block([0xFF, 0xF3, 0x80, 0], 208)
    var notes = short
    notes.replaceSubrange(21..<33, with: Array("Xing".utf8) + [0, 0, 0, 1, 0, 0, 0, 8])
    // The longest blocks of all formats: MPEG 2.5, layer II.
    let long = block([0xFF, 0xE5, 0xEA, 0], 2881)
    let bytes = notes + short + short + (0..<8).flatMap { _ in long }
    var stream = try MPEGStream(
      BufferedBytes(MemorySource(bytes, isSeekable: false)), isNear: false)
    #expect(stream.announcedBlockCount == 8)
    #expect(try !stream.continuesAfterEncoderHeader())
  }

  @Test func `a pipe where a file is needed is refused without a wait`() throws {
    let folder = TemporaryFolder()
    let pipe = folder("pipe.wav")
    #expect(mkfifo(pipe, 0o600) == 0)
    for open in [
      { _ = try SoundFileReader(path: pipe) },
      { _ = try Decoding.decoder(forPath: pipe) },
      { _ = try TextFile.read(pipe) },
      { _ = try FileSplice(path: pipe) },
      { _ = try FileRepair.examine(pipe) },
    ] as [() throws -> Void] {
      let trouble = failure(open)
      #expect(trouble?.kind == .cannotOpen)
      #expect(trouble?.message.contains("is a pipe or a device") == true)
    }
    let root = folder("")
    #expect(throws: FileFailure.self) { try SoundFolder.files(in: root) }
    #expect(failure { _ = try TextFile.read("/dev/zero") }?.kind == .cannotOpen)
  }

  @Test func `waiting for a pipe that is a source can be interrupted`() throws {
    let folder = TemporaryFolder()
    let pipe = folder("pipe.wav")
    #expect(mkfifo(pipe, 0o600) == 0)
    let trouble = failure {
      _ = try Decoding.decoder(forPath: pipe) { end in end() }
    }
    #expect(trouble?.message.contains("interrupted") == true)
  }

  private func rf64(announced: Int, frames: Int) -> [UInt8] {
    func field(_ number: Int, _ count: Int) -> [UInt8] {
      [UInt8](number, count, bigEndian: false)
    }
    var bytes = Array("RF64".utf8) + field(0xFFFF_FFFF, 4) + Array("WAVEds64".utf8) + field(28, 4)
    bytes += field(announced, 8) + field(announced, 8) + field(announced / 4, 8) + field(0, 4)
    bytes += Array("fmt ".utf8) + field(16, 4) + field(1, 2) + field(2, 2) + field(48000, 4)
    bytes += field(192_000, 4) + field(4, 2) + field(16, 2) + Array("data".utf8)
    bytes += field(0xFFFF_FFFF, 4)
    return bytes + [UInt8](repeating: 1, count: 4 * frames)
  }
}

/// A source that repeats a few bytes endlessly.
private final class EndlessSource: ByteSource, @unchecked Sendable {
  // @unchecked because one thread reads, and the test checks the result afterwards.
  private let bytes: [UInt8]
  private(set) var readByteCount = 0
  let name = "the source"
  let byteCount: Int?
  var isSeekable: Bool { byteCount != nil }
  var bytesPerSecond: Double? { nil }
  var isInterrupted: Bool { false }
  var announcedTitle: String? { nil }
  var contentType: String? { nil }
  var announcedBitRate: Int? { nil }

  init(_ bytes: [UInt8], hasLength: Bool) {
    // 64 KiB of repetitions, so that a read is a copy.
    self.bytes = (0..<65536).map { bytes[$0 % bytes.count] }
    byteCount = hasLength ? FileBounds.byteCount : nil
  }

  func read(
    into room: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    let start = offset & 0xFFFF
    let count = min(room.count, 16384, bytes.count - start)
    room.copyBytes(from: bytes[start..<start + count])
    readByteCount += count
    return count
  }

  func readyByteCount(at offset: Int) -> Int { .max }
  func interrupt() {}
  func proceed() {}
}
