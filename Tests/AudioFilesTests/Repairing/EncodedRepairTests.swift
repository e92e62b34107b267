import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

@Suite struct EncodedRepairTests {
  @Test(arguments: [1, 2, 100, 3000, 9000, 20000])
  func `a truncated FLAC file ends with its last complete frame`(cut: Int) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "t.flac", .flac, .s16, frames: 20001)
    let original = try load(file.path)
    file.bytes.removeLast(cut)
    let repaired = try file.repair()
    let frames = repaired?.finding.frames ?? 0
    #expect(frames % 4096 == 0)
    #expect(frames > 0)
    #expect(repaired?.finding.headerFrames == 20001)
    #expect(repaired?.samples == Array(original[..<(2 * frames)]))
  }

  @Test func `a FLAC file without a length gets one, and keeps its digest`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "o.flac", .flac, .s24, frames: 20001)
    let whole = file.bytes
    file.set([0, 0, 0, 0], at: 22)
    #expect(try file.repair()?.finding.frames == 20001)
    #expect(BrokenFile(reading: file.path).bytes == whole)
  }

  @Test func `zeros after a FLAC file are removed`() throws {
    let folder = TemporaryFolder()
    let whole = try BrokenFile(folder, "whole.flac", .flac, .s16, frames: 20002)
    for count in [1, 2, 7, 128, 300_000] {
      var file = whole
      file.bytes += [UInt8](repeating: 0, count: count)
      #expect(try file.repair()?.finding.frames == 20002)
      let isAsItWas = BrokenFile(reading: file.path).bytes == whole.bytes
      #expect(isAsItWas)
    }
  }

  @Test(arguments: [(1, "1 byte"), (5, "5 bytes"), (20000, "20000 bytes")])
  func `bytes of another program after a FLAC file are removed without losing a frame`(
    count: Int, description: String
  ) throws {
    let folder = TemporaryFolder()
    let whole = try BrokenFile(folder, "whole.flac", .flac, .s16, frames: 20001)
    var file = whole
    file.bytes += [UInt8](repeating: 1, count: count)
    let finding = try file.repair()?.finding
    #expect(finding?.frames == 20001)
    #expect(finding?.faults == ["\(description) behind the last whole frame belonged to none"])
    let isAsItWas = BrokenFile(reading: file.path).bytes == whole.bytes
    #expect(isAsItWas)
  }

  @Test func `a tag after a FLAC file is kept, and no frame is lost`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "tagged.flac", .flac, .s16, frames: 20001)
    file.bytes += Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)
    file.store()
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == 20001 && finding.faults.isEmpty)
  }

  @Test func `zeros are removed after a FLAC frame whose checksum ends in zero`() throws {
    let folder = TemporaryFolder()
    // One length in 256 has such a checksum, and this sound ends in noise.
    var found = 0
    for frames in 20002..<21200 where found < 3 {
      let whole = try BrokenFile(folder, "\(frames).flac", .flac, .s16, frames: frames)
      guard whole.bytes.last == 0 else { continue }
      found += 1
      for count in [1, 2, 3, 50] {
        var file = whole
        file.bytes += [UInt8](repeating: 0, count: count)
        #expect(try file.repair()?.finding.frames == frames)
        let isAsItWas = BrokenFile(reading: file.path).bytes == whole.bytes
        #expect(isAsItWas)
      }
    }
    #expect(found > 0)
  }

  /// Changes the number of bits per sample in the header of `file`.
  private func tell(_ bits: Int, in file: inout BrokenFile) {
    file.bytes[20] = file.bytes[20] & 0xFE | UInt8((bits - 1) >> 4)
    file.bytes[21] = file.bytes[21] & 0x0F | UInt8((bits - 1) & 15) << 4
  }

  @Test(arguments: [4, 12, 20, 32], [0, 3, 300_000])
  func `a FLAC file with a sample size that the decoder does not support is repaired once`(
    bits: Int, zeros: Int
  ) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "w.flac", .flac, .s16, frames: 8192)
    tell(bits, in: &file)
    file.bytes += [UInt8](repeating: 0, count: zeros)
    file.set([0, 0, 0, 0], at: 22)
    file.store()
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == 8192 && finding.isRepairable)
    try FileRepair.repairInPlace(finding)
    #expect(try FileRepair.examine(file.path).isIntact)
  }

  @Test func `FLAC with fewer bits per sample than the format allows is refused`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "b.flac", .flac, .s16, frames: 8192)
    tell(3, in: &file)
    file.store()
    #expect(throws: FileFailure.self) { try FileRepair.examine(file.path) }
  }

  @Test(arguments: [0, 14, 33, 35])
  func `FLAC with a STREAMINFO block of another length is refused`(byteCount: UInt8) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "l.flac", .flac, .s16, frames: 8192)
    file.set([byteCount], at: 7)
    file.store()
    #expect(throws: FileFailure.self) { try FileRepair.examine(file.path) }
  }

  @Test(arguments: [false, true])
  func `a FLAC file after ID3 tags is found, with and without a footer`(
    hasFooter: Bool
  ) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "i.flac", .flac, .s16, frames: 20001)
    let flags: UInt8 = hasFooter ? 0x10 : 0
    let head = { (name: String) in Array(name.utf8) + [4, 0, flags, 0, 0, 0, 20] }
    let tags = head("ID3") + [UInt8](repeating: 0, count: 20) + (hasFooter ? head("3DI") : [])
    file.bytes = tags + file.bytes
    file.store()
    #expect(try FileRepair.examine(file.path).frames == 20001)
  }

  @Test func `a damaged frame in the middle of FLAC is reported and left`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "d.flac", .flac, .s16, frames: 30000)
    file.set([1, 2, 3, 4, 5], at: file.bytes.count / 2)
    file.store()
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == 30000)
    #expect(
      finding.problems == ["It is damaged in one place before its end, which cannot be mended."])
    #expect(!finding.isRepairable)
  }

  @Test(arguments: [false, true])
  func `a damaged first frame of FLAC does not shorten the file`(isTruncated: Bool) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "f.flac", .flac, .s16, frames: 30000)
    let original = try load(file.path)
    let first = try #require(
      file.bytes.indices.first { file.bytes[$0...].starts(with: [0xFF, 0xF8]) })
    file.bytes[first + 100] ^= 1
    if isTruncated { file.bytes.removeLast(10) }
    file.store()
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == (isTruncated ? 28672 : 30000))
    #expect(finding.isRepairable == isTruncated)
    #expect(
      finding.problems.last == "It is damaged in one place before its end, which cannot be mended.")
    if isTruncated { try FileRepair.repairInPlace(finding) }
    var reader = try SoundFileReader(path: file.path)
    #expect(reader.frameCount == finding.frames)
    try reader.seek(toFrame: 20000)
    var buffer = SampleBuffer(frameCount: 8672, channelCount: 2)
    #expect(try reader.read(into: &buffer) == 8672)
    #expect(list(buffer) == Array(original[40000..<57344]))
    #expect(try FileRepair.examine(file.path).frames == finding.frames)
  }

  @Test func `a FLAC file that is a part of a longer one has only its own frames`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "p.flac", .flac, .s16, frames: 30000)
    let places = file.bytes.indices.filter { file.bytes[$0...].starts(with: [0xFF, 0xF8, 0xCA]) }
    // The first frames are gone, but for a few bytes that are too short for them.
    file.bytes.removeSubrange(places[0]..<places[4] - 9)
    file.store()
    #expect(try FileRepair.examine(file.path).frames == 30000 - 4 * 4096)
  }

  @Test(arguments: [FileFormat.ogg, .opus], [1, 5000, 15000])
  func `a truncated Ogg file ends with its last complete page`(format: FileFormat, cut: Int) throws
  {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "t.ogg", format, .float, frames: 96000)
    let original = try load(file.path)
    file.bytes.removeLast(cut)
    let repaired = try file.repair()
    let frames = repaired?.finding.frames ?? 0
    #expect(frames > 20000)
    #expect(frames < 96000)
    #expect(repaired?.samples.count == 2 * frames)
    // The last block lacks its overlap with the next one.
    let common = max(0, 2 * (frames - 2048))
    #expect(repaired?.samples[..<common] == original[..<common])
  }

  @Test(arguments: [FileFormat.ogg, .opus], [1, 2, 3])
  func `a chain of Ogg streams that ends within the headers of the last one ends before it`(
    format: FileFormat, links: Int
  ) throws {
    let folder = TemporaryFolder()
    var chain: [UInt8] = []
    for link in 0..<links {
      chain += try BrokenFile(folder, "\(link)", format, .float, frames: 48000).bytes
    }
    let other = try BrokenFile(folder, "other", format, .float, frames: 48000).bytes
    let pages = other.indices.filter { other[$0...].starts(with: "OggS".utf8) }
    for cut in [pages[1], pages[1] + 40, pages[2] - 1, pages[2], pages[2] + 40] {
      var file = try BrokenFile(folder, "chain\(cut)", format, .float, frames: 1)
      file.bytes = chain + other[..<cut]
      let repaired = try file.repair()
      #expect(repaired?.finding.frames == links * 48000)
      #expect(repaired?.samples.count == 2 * links * 48000)
      #expect(BrokenFile(reading: file.path).bytes == chain)
    }
  }

  @Test(arguments: [(1, "1 byte"), (5, "5 bytes")])
  func `bytes after the last page of Ogg are reported with their number`(
    count: Int, description: String
  ) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "b.ogg", .ogg, .float, frames: 20001)
    file.bytes += [UInt8](repeating: 1, count: count)
    #expect(
      try file.repair()?.finding.faults.first
        == "\(description) behind the last whole page belonged to none"
    )
  }

  @Test func `a lost page of Ogg is reported`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "l.ogg", .ogg, .float, frames: 96000)
    file.set([1, 2, 3], at: file.bytes.count / 2)
    file.store()
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == 96000)
    #expect(finding.faults == ["1 page is lost or damaged before the end, which cannot be mended"])
  }
}
