import Glibc
import TemporaryFolders
import Testing

@testable import AudioFiles

@Suite struct PipeSourceTests {
  private let source: PipeSource
  private let writer: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    source = try PipeSource(FileDescriptor(owning: ends[0]))
    writer = ends[1]
  }

  private func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: offset) }
    return Array(bytes.prefix(got))
  }

  @Test func `the bytes of a pipe are read in order up to its end`() throws {
    #expect(write(writer, "abcdef", 6) == 6)
    #expect(try read(4, at: 0) == Array("abcd".utf8))
    #expect(try read(4, at: 4) == Array("ef".utf8))
    close(writer)
    #expect(try read(4, at: 6).isEmpty)
  }

  @Test func `a read that waits for another program can be interrupted`() throws {
    defer { close(writer) }
    source.interrupt()
    #expect(try read(4, at: 0).isEmpty)
    source.proceed()
    #expect(write(writer, "a", 1) == 1)
    #expect(try read(4, at: 0) == Array("a".utf8))
  }

  @Test func `audio that is not WAV is decoded from a pipe`() throws {
    let folder = TemporaryFolder()
    try save(integers(bits: 16, frames: 2000, channels: 1), to: folder("sound"), .flac, .s16)
    let bytes = folder.bytes(of: "sound")
    // The bytes fit into a pipe, so that the writer does not block.
    try #require(bytes.count < 32768)
    #expect(write(writer, bytes, bytes.count) == bytes.count)
    close(writer)
    let decoder = try Decoding.decoder(for: source)
    #expect(try decode(decoder) == load(folder("sound")))
  }

  @Test func `a pipe has one reader at a time, and another one is refused`() throws {
    let folder = TemporaryFolder()
    let path = folder("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    do {
      let first = try #require(try PipeSource(path: path))
      #expect(throws: FileFailure.self) { _ = try PipeSource(path: path) }
      first.interrupt()
    }
    #expect(try PipeSource(path: path) != nil)
    close(writer)
  }

  @Test(arguments: [FileFormat.ogg, .opus, .mp3])
  func `truncated audio in a pipe is reported`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    let sample = format.nearest(to: .s16)
    let sound = glide(frames: 12000, channels: 1)
    try save(sound, to: folder("sound"), format, sample)
    let bytes = folder.bytes(of: "sound")
    // The bytes fit into a pipe, so that the writer does not block.
    try #require(bytes.count < 65536)
    let part = bytes.count * 3 / 4
    #expect(write(writer, bytes, part) == part)
    close(writer)
    let decoder = try Decoding.decoder(for: source)
    #expect(throws: FileFailure.self) { _ = try decode(decoder) }
  }
}
