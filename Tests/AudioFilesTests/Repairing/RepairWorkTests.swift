import AudioBasics
import Glibc
import TemporaryFolders
import Testing

@testable import AudioFiles

/// Tests that the work of a repair grows linearly with the file, whatever its contents. The work is
/// the number of bytes examined.
@Suite struct RepairWorkTests {
  /// A sequence of bytes that is repeated after the header of a file, to mislead the repair.
  enum Trap: CaseIterable {
    case wave, aiff, coreAudio, wave64, flac, flacFrames, flacZeros, ogg
  }

  @Test(arguments: Trap.allCases)
  func `the work grows at most linearly with the size of the file`(trap: Trap) throws {
    let works = try [1, 2, 4].map { try work(trap, byteCount: $0 * 40_000) }
    // A part of the work is the same for every file.
    #expect(works[2] - works[1] <= 3 * max(1, works[1] - works[0]), "\(works)")
    #expect(works[2] <= 200 * 160_000, "\(works)")
  }

  private func work(_ trap: Trap, byteCount: Int) throws -> Int {
    let folder = TemporaryFolder()
    let (head, piece) = Self.parts(trap)
    let repeats = byteCount / piece.count
    folder.write(head + (0..<repeats).flatMap { _ in piece }, to: "trap")
    let file = try DamagedFile(folder("trap"))
    do {
      switch trap {
      case .wave: _ = try WaveRepair(file, .riff).finding()
      case .aiff: _ = try AIFFRepair(file: file).finding()
      case .coreAudio: _ = try CoreAudioRepair(file: file).finding()
      case .wave64: _ = try Wave64Repair(file: file).finding()
      case .flac, .flacFrames, .flacZeros: _ = try FLACRepair(file, at: 0).finding()
      case .ogg:
        var repair = OggRepair(file)
        _ = try repair.finding()
      }
    } catch {
      // A failure with a message is also a valid result.
    }
    return file.requestedByteCount
  }

  private static func parts(_ trap: Trap) -> (head: [UInt8], piece: [UInt8]) {
    let long = [UInt8](repeating: 0xFF, count: 4)
    switch trap {
    case .wave:
      return (
        Array("RIFF".utf8) + long + Array("WAVEfmt ".utf8)
          + [16, 0, 0, 0, 1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0]
          + Array("data".utf8) + long, Array("LIST".utf8) + [0, 0, 0, 0]
      )
    case .aiff:
      return (
        Array("FORM".utf8) + long + Array("AIFFCOMM".utf8)
          + [0, 0, 0, 18, 0, 2, 0, 0, 0, 0, 0, 16, 0x40, 0x0E, 0xBB, 0x80, 0, 0, 0, 0, 0, 0]
          + Array("SSND".utf8) + long + [UInt8](repeating: 0, count: 8),
        Array("ANNO".utf8) + [0, 0, 0, 0]
      )
    case .coreAudio:
      let desc: [UInt8] =
        [0x40, 0xE7, 0x70, 0, 0, 0, 0, 0] + Array("lpcm".utf8)
        + [0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 16]
      return (
        Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 32] + desc
          + Array("data".utf8) + [0x7F] + long + [0, 0, 0] + [0, 0, 0, 0],
        Array("info".utf8) + [UInt8](repeating: 0, count: 8)
      )
    case .wave64:
      let tail: [UInt8] = [
        0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A,
      ]
      let riff: [UInt8] = [
        0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00,
      ]
      let format: [UInt8] = [1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0]
      return (
        Array("riff".utf8) + riff + long + [0, 0, 0, 0] + Array("wave".utf8) + tail
          + Array("fmt ".utf8) + tail + [40, 0, 0, 0, 0, 0, 0, 0] + format + Array("data".utf8)
          + tail + long + [0, 0, 0, 0],
        Array("junk".utf8) + tail + [24, 0, 0, 0, 0, 0, 0, 0]
      )
    case .flac, .flacFrames, .flacZeros:
      // Blocks of 65,536 frames with eight channels, so that each may be very long.
      let information: [UInt8] =
        [0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x0B, 0xB8, 0x0E, 0xF0, 0, 0, 0, 0]
        + [UInt8](repeating: 0, count: 16)
      var frame: [UInt8] = [0xFF, 0xF8, 0x79, 0x78, 0, 0xFF, 0xFF]
      frame.append(Checksum.flacHeader.of(frame))
      let head = Array("fLaC".utf8) + [0x80, 0, 0, 34] + information
      if trap == .flacZeros {
        // The checksum of a frame matches at each of many zeros, but not at the end.
        let checksum = [UInt8](Int(Checksum.flacFrame.of(frame)), 2, bigEndian: true)
        let one = [UInt8](Int(Checksum.flacFrame.of([1])), 2, bigEndian: true)
        return (
          head + frame + checksum + [1], one + [UInt8](repeating: 0, count: 1000) + [1]
        )
      }
      return (head, trap == .flac ? frame : frame + [0, 1])
    case .ogg:
      return (
        [],
        Array("OggS".utf8) + [UInt8](repeating: 0, count: 22) + [255]
          + [UInt8](repeating: 255, count: 5)
      )
    }
  }

  @Test func `a file that is truncated while it is examined is reported`() throws {
    let folder = TemporaryFolder()
    folder.write([UInt8](repeating: 1, count: 2_000_000), to: "shrinking")
    for count in [100, 300_000, 1_000_000] {
      let file = try DamagedFile(folder("shrinking"))
      truncate(folder("shrinking"), 1_200_000)
      let trouble = failure { _ = try file.bytes(at: 1_150_000, count: count) }
      #expect(trouble?.kind == .readFailed)
      truncate(folder("shrinking"), 2_000_000)
    }
  }

  @Test func `a running checksum is zero over a block that includes its checksum`() {
    var numbers = SplitMix64(seed: 1)
    let checksum = Checksum.flacFrame
    for count in [2, 3, 100, 70_000] {
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      let word = checksum.of(bytes)
      bytes += [UInt8(word >> 8), UInt8(word & 0xFF)]
      var running = RunningChecksum()
      for _ in 0..<Int.random(in: 0...5000, using: &numbers) {
        running.add(UInt8.random(in: 0...255, using: &numbers))
      }
      let before = running.mark
      for byte in bytes { running.add(byte) }
      #expect(running.mark == before)
      running.add(1)
      #expect(running.mark != before)
    }
  }
}
