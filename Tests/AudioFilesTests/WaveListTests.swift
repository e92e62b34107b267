import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import TestSources
import Testing

/// Tests of tag lists that make libsndfile loop endlessly; they are not passed to it.
@Suite struct WaveListTests {
  private func chunk(_ name: String, _ body: [UInt8], size: UInt32? = nil) -> [UInt8] {
    let size = size ?? UInt32(body.count)
    return Array(name.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + body
      + (body.count % 2 == 1 ? [0] : [])
  }

  /// Returns a WAV file of 50 frames with `list` before or after them.
  private func file(_ list: [UInt8], behind: Bool, kind: UInt8 = 1) -> [UInt8] {
    let format: [UInt8] = [kind, 0, 1, 0, 0x80, 0xBB, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0]
    let sound = chunk("data", (0..<50).flatMap { [UInt8($0), 0] })
    let body = chunk("fmt ", format) + (behind ? sound + list : list + sound)
    return chunk("RIFF", Array("WAVE".utf8) + body)
  }

  private static let endless: [UInt8] =
    Array("INFO".utf8) + Array("xyzw".utf8) + [0xF8, 0xFF, 0xFF, 0xFF] + Array("INAM".utf8)
    + [4, 0, 0, 0] + Array("Song".utf8)

  private func decoder(_ bytes: [UInt8], fromDisk: Bool) throws -> any SoundDecoder {
    guard fromDisk else { return try Decoding.decoder(for: MemorySource(bytes)) }
    let folder = TemporaryFolder()
    folder.write(bytes, to: "list.wav")
    return try Decoding.decoder(forPath: folder("list.wav"))
  }

  @Test(arguments: [false, true], [false, true])
  func `a LIST entry with a negative length does not prevent decoding`(
    behind: Bool, fromDisk: Bool
  ) throws {
    let bytes = file(chunk("LIST", Self.endless), behind: behind)
    let decoder = try decoder(bytes, fromDisk: fromDisk)
    var buffer = SampleBuffer(frameCount: 100, channelCount: 1)
    let count = try decoder.read(into: &buffer, at: 0, frames: 100)
    #expect(count == 50)
    #expect(buffer[49] == 49.0 / 32768)
  }

  @Test(arguments: [false, true])
  func `a file with such a list and compressed audio is refused`(fromDisk: Bool) {
    let bytes = file(chunk("LIST", Self.endless), behind: false, kind: 2)
    #expect(throws: FileFailure.self) { try decoder(bytes, fromDisk: fromDisk) }
  }

  @Test(arguments: [false, true])
  func `an intact list of tags is read`(behind: Bool) throws {
    let tags = Array("INFO".utf8) + chunk("INAM", Array("Song".utf8)) + chunk("IART", [65, 66, 0])
    let decoder = try decoder(file(chunk("LIST", tags), behind: behind), fromDisk: true)
    #expect(decoder.tags.title == "Song" && decoder.tags.artist == "AB")
  }
}
