import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

/// Tests of MP3 files with a wrong block count or a modified encoder header.
@Suite struct MPEGNotesTests {
  /// Returns the file `contents` with the encoder header's block count multiplied by `share`.
  private func announcing(_ share: Double, _ contents: [UInt8]) throws -> [UInt8] {
    let text = try #require(
      [Array("Xing".utf8), Array("Info".utf8)].compactMap { name in
        contents.indices.first { contents[$0...].starts(with: name) }
      }.first)
    var contents = contents
    let place = text + 8
    let count = contents[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    let wanted = Int(clamping: Double(count) * share)
    for byte in 0..<4 {
      contents[place + byte] = UInt8(truncatingIfNeeded: wanted >> (24 - 8 * byte))
    }
    return contents
  }

  @Test(arguments: [0.05, 0.5, 2])
  func `an MP3 file with a wrong block count is played to its end`(share: Double) throws {
    let contents = try lame(["-b", "128"], seconds: 4)
    let folder = TemporaryFolder()
    folder.write(contents, to: "right.mp3")
    folder.write(try announcing(share, contents), to: "wrong.mp3")
    let right = try decode(Decoding.decoder(forPath: folder("right.mp3")))
    let wrong = try decode(Decoding.decoder(forPath: folder("wrong.mp3")))
    #expect(
      abs(wrong.count - right.count) <= 1152 * 4 && wrong.prefix(99_000) == right.prefix(99_000))
  }

  @Test func `an MP3 file with more audio than its VBR header states is not complete`()
    throws
  {
    let contents = try announcing(0.7, lame(["-V", "4"], seconds: 4))
    let folder = TemporaryFolder()
    folder.write(contents, to: "wrong.mp3")
    let decoder = try Decoding.decoder(forPath: folder("wrong.mp3"))
    #expect(throws: FileFailure.self) { _ = try decode(decoder) }
    #expect(decoder.isCutShort)
  }
}
