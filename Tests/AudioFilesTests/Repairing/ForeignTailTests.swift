import AudioBasics
import AudioFiles
import TemporaryFolders
import TestSources
import Testing

/// Tests of WAV files that are followed by foreign bytes, or whose header does not count all
/// samples.
@Suite struct ForeignTailTests {
  private static let frames = 4000

  private func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(body.count) + body
  }

  private func format(
    kind: Int = 1, channels: Int = 2, rate: Int = 48000, bits: Int = 16
  ) -> [UInt8] {
    chunk(
      "fmt ",
      little(kind, 2) + little(channels, 2) + little(rate) + little(4 * 48000) + little(4, 2)
        + little(bits, 2))
  }

  /// Samples of which no two frames are equal.
  private static let sound: [UInt8] = (0..<2 * frames).flatMap { index -> [UInt8] in
    let sample = Int16(truncatingIfNeeded: index &* 40503)
    return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
  }

  private func wave(_ head: [UInt8]? = nil, data: [UInt8] = Self.sound) -> [UInt8] {
    chunk("RIFF", Array("WAVE".utf8) + (head ?? format()) + chunk("data", data))
  }

  private var tails: [(name: String, bytes: [UInt8])] {
    [
      ("ID3v1", Array("TAG".utf8) + [UInt8](repeating: 65, count: 125)),
      (
        "ID3v2",
        Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 0, 8] + Array("TIT2abcd".utf8)
          + Array("3DI".utf8) + [4, 0, 0x10, 0, 0, 0, 8]
      ),
      ("text", Array("Recorded by nobody on a rainy day.\r\n".utf8)),
      ("another file", wave()),
      ("a file cut off", Array(wave().prefix(1000))),
      ("samples again", chunk("data", Array(Self.sound.prefix(400)))),
      ("tags", chunk("LIST", Array("INFO".utf8) + chunk("INAM", Array("Song".utf8)))),
    ]
  }

  @Test func `bytes after a complete WAV file are not played, and the file is left`() throws {
    let folder = TemporaryFolder()
    for (name, tail) in tails {
      folder.write(wave() + tail, to: "file.wav")
      let decoder = try Decoding.decoder(forPath: folder("file.wav"))
      #expect(decoder.frameCount == Self.frames, "\(name)")
      #expect(try decode(decoder).count == 2 * Self.frames, "\(name)")
      let finding = try FileRepair.examine(folder("file.wav"))
      #expect(finding.frames == Self.frames, "\(name)")
      // Only a chunk could belong to the file.
      #expect(finding.isIntact || ["samples again", "tags"].contains(name), "\(name)")
    }
  }

  @Test func `frames that a header does not count are restored`() throws {
    let folder = TemporaryFolder()
    for counted in [4, 400, 4 * 1000] {
      var bytes = wave()
      bytes.replaceSubrange(40..<44, with: little(counted))
      bytes.replaceSubrange(4..<8, with: little(36 + counted))
      folder.write(bytes, to: "file.wav")
      #expect(try FileRepair.examine(folder("file.wav")).frames == Self.frames, "\(counted)")
    }
  }

  @Test(arguments: [36, 36 + 16000, 0xFFFF_FFFF, 0x7FFF_FFFF])
  func `audio is played although the header states that there is none`(length: Int) throws {
    let folder = TemporaryFolder()
    var bytes = wave()
    bytes.replaceSubrange(4..<8, with: little(length))
    bytes.replaceSubrange(40..<44, with: [0, 0, 0, 0])
    folder.write(bytes, to: "file.wav")
    #expect(try decode(Decoding.decoder(forPath: folder("file.wav"))).count == 2 * Self.frames)
    #expect(try decode(Decoding.decoder(for: MemorySource(bytes))).count == 2 * Self.frames)
    #expect(try FileRepair.examine(folder("file.wav")).frames == Self.frames)
  }

  @Test func `a file without audio is empty, whatever follows it`() throws {
    let folder = TemporaryFolder()
    for (name, tail) in tails where name != "samples again" {
      folder.write(wave(data: []) + tail, to: "file.wav")
      #expect(try Decoding.decoder(forPath: folder("file.wav")).frameCount == 0, "\(name)")
    }
  }

  @Test func `a file that cannot be played is neither called intact nor repaired`() throws {
    let folder = TemporaryFolder()
    for (name, head) in [
      ("the rate", format(rate: 0xFFFF_FFFF)), ("the channels", format(channels: 65535)),
      ("floats of 16 bits", format(kind: 3)), ("two formats", format() + format()),
    ] {
      // The last case ends with a part of a frame, which a repair removes.
      for (isCounted, rest) in [(true, []), (false, []), (false, [9])] as [(Bool, [UInt8])] {
        var bytes = wave(head) + rest
        if !isCounted { bytes.replaceSubrange(4..<8, with: little(4)) }
        folder.write(bytes, to: "file.wav")
        #expect(
          failure { _ = try Decoding.decoder(forPath: folder("file.wav")) }?.kind
            == .unusableContents, "\(name)")
        let refusal = failure {
          let finding = try FileRepair.examine(folder("file.wav"))
          try FileRepair.write(finding, to: folder("mended.wav"), overwrite: false)
        }
        #expect(refusal?.kind == .unusableContents, "\(name)")
        #expect(folder.names == ["file.wav"])
        let unmended = failure {
          try FileRepair.repairInPlace(FileRepair.examine(folder("file.wav")))
        }
        #expect(unmended?.kind == .unusableContents, "\(name)")
        #expect(folder.bytes(of: "file.wav") == bytes)
      }
    }
  }
}
