import AudioBasics
import TemporaryFolders
import Testing

@testable import AudioFiles

@Suite struct ContainerRepairTests {
  @Test(arguments: [FileFormat.wav, .rf64, .w64, .caf, .aiff, .flac, .ogg, .opus])
  func `an intact file is found intact`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    let samples: FileSampleFormat = format.isLossy ? .float : .s24
    for channels in 1...2 {
      let path = folder("s\(channels)")
      let sound = integers(bits: 16, frames: 7777, channels: channels)
      try save(sound, to: path, format, samples)
      let finding = try FileRepair.examine(path)
      #expect(finding.faults == [])
      #expect(finding.frames == 7777)
      #expect(finding.fileFormat == format)
      #expect(!finding.isRepairable)
    }
  }

  /// The bytes of a length field that a test overwrites, by their offset from a word.
  private struct Wound {
    let format: FileFormat
    let word: String
    let offset: Int
    let byteCount: Int
  }

  @Test(arguments: [UInt8(0), 0x7F, 0xFF], [FileFormat.rf64, .w64, .caf, .aiff])
  func `a lost length is reconstructed`(filler: UInt8, format: FileFormat) throws {
    let wounds = [
      Wound(format: .rf64, word: "ds64", offset: 8, byteCount: 24),
      Wound(format: .w64, word: "data", offset: 16, byteCount: 8),
      Wound(format: .w64, word: "riff", offset: 16, byteCount: 8),
      Wound(format: .caf, word: "data", offset: 4, byteCount: 8),
      Wound(format: .aiff, word: "SSND", offset: 4, byteCount: 4),
      Wound(format: .aiff, word: "COMM", offset: 10, byteCount: 4),
    ].filter { $0.format == format }
    let folder = TemporaryFolder()
    for cut in [0, 1, 5] {
      var file = try BrokenFile(folder, "b\(cut)", format, .s24, frames: 3001)
      let original = try load(file.path)
      for wound in wounds {
        file.set(
          [UInt8](repeating: filler, count: wound.byteCount),
          at: file.place(of: wound.word) + wound.offset)
      }
      file.bytes.removeLast(cut)
      let frames = format == .w64 ? nil : (cut == 0 ? 3001 : 3000)
      let repaired = try file.repair()
      let found = repaired?.finding.frames ?? 0
      #expect(found == frames || (frames == nil && (3000...3002).contains(found)))
      let common = min(repaired?.samples.count ?? 0, original.count)
      #expect(common >= 6000)
      #expect(repaired?.samples[..<common] == original[..<common])
    }
  }

  @Test(arguments: [0, 4, 17, 18, 67, 1000, 0x7FFF_FFFF, 0xFFFF_FFFF], [0, 6, 40])
  func `a damaged common chunk behind the samples of AIFF is lost, or serves`(
    size: Int, rest: Int
  ) throws {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    let fields = number(1, 2) + number(4000, 4) + number(16, 2) + [0x40, 0x0E, 0xBB, 0x80]
    let common = fields + number(0, 6)
    let sound = number(0, 8) + (0..<8000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let file =
      Array("AIFFSSND".utf8) + number(sound.count, 4) + sound + Array("COMM".utf8) + number(size, 4)
      + common + [UInt8](repeating: 0x61, count: rest)
    let folder = TemporaryFolder()
    folder.write(Array("FORM".utf8) + number(file.count + 13, 4) + file, to: "a.aiff")
    let before = folder.bytes(of: "a.aiff")
    var found: RepairFinding?
    let trouble = failure { found = try FileRepair.examine(folder("a.aiff")) }
    if let found {
      // Only a chunk that is whole is not cut off; the pad byte is zero, like its last field.
      #expect(size >= 17 && found.frames >= 3999)
      let written = failure {
        try FileRepair.write(found, to: folder("b.aiff"), overwrite: false)
      }
      #expect(written == nil)
      #expect(try FileRepair.examine(folder("b.aiff")).isIntact)
    } else {
      #expect(trouble?.kind == .unusableContents)
      #expect(trouble?.message.contains("common chunk") == true || size == 4)
    }
    #expect(folder.bytes(of: "a.aiff") == before)
  }

  @Test func `a repair makes no edit behind the new end of the file`() throws {
    let folder = TemporaryFolder()
    folder.write([UInt8](repeating: 1, count: 100), to: "x")
    let file = try DamagedFile(folder("x"))
    var plan = RepairPlan(byteCount: 100)
    plan.replace(90..<94, with: [2, 2, 2, 2])
    plan.replace(10..<14, with: [3, 3, 3, 3])
    try plan.cut(at: 50, in: file)
    plan.replace(48..<52, with: [4, 4, 4, 4])
    try plan.set([5], at: 50, in: file)
    plan.replace(46..<50, with: [6, 6, 6, 6])
    #expect(plan.edits.map(\.range) == [10..<14, 46..<50])
    #expect(plan.repairedByteCount == 50)
  }

  @Test(arguments: [UInt8(0), 1])
  func `a pad byte after the samples of CAF is no sample`(pad: UInt8) throws {
    let folder = TemporaryFolder()
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    let rate: [UInt8] = [0x40, 0xBF, 0x40, 0, 0, 0, 0, 0]
    let description =
      rate + Array("lpcm".utf8) + number(0, 4) + number(1, 4) + number(1, 4) + number(1, 4)
      + number(8, 4)
    var file = Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + number(32, 8) + description
    file += Array("data".utf8) + number(171, 8) + number(0, 4)
    file += [UInt8](repeating: 9, count: 167) + [pad]
    try #require(file.count % 2 == 0)
    folder.write(file, to: "odd.caf")
    let finding = try FileRepair.examine(folder("odd.caf"))
    #expect(finding.frames == (pad == 0 ? 167 : 168) && finding.isIntact == (pad == 0))
    #expect(try load(folder("odd.caf")).count == 167)
  }

  @Test(arguments: [UInt8(0x7F), 0x80, 0xFF])
  func `extreme lengths are handled as wrong lengths`(first: UInt8) throws {
    let folder = TemporaryFolder()
    for filler in [UInt8(0), 0xFF] {
      let extreme = [first] + [UInt8](repeating: filler, count: 7)
      var core = try BrokenFile(folder, "x\(filler).caf", .caf, .s16, frames: 100)
      core.set(extreme, at: core.place(of: "data") + 4)
      core.set([0, 0, 0xFF, 0xFF], at: core.place(of: "desc") + 12 + 20)
      core.store()
      #expect(try !FileRepair.examine(core.path).isIntact)
      var wave = try BrokenFile(folder, "x\(filler).w64", .w64, .s16, frames: 100)
      wave.set(extreme.reversed(), at: wave.place(of: "data") + 16)
      wave.set(extreme.reversed(), at: 16)
      #expect(try wave.repair()?.finding.frames == 100)
    }
  }

  @Test func `a file that changed after the examination is not repaired`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "r.wav", .wav, .s16, frames: 100)
    file.bytes.removeLast(2)
    file.store()
    let finding = try FileRepair.examine(file.path)
    file.bytes += [0, 0, 0, 0]
    file.store()
    #expect(failure { try FileRepair.repairInPlace(finding) }?.kind == .cannotOpen)
    #expect(BrokenFile(reading: file.path).bytes == file.bytes)
  }

  @Test func `a file that is being written is not repaired in place`() throws {
    let folder = TemporaryFolder()
    let path = folder("w.wav")
    var writer = try SoundFileWriter(
      path: path, fileFormat: .wav, sampleFormat: .s16, sampleRate: 8000, channelCount: 1,
      overwrite: false)
    try writer.write(integers(bits: 16, frames: 100, channels: 1), frames: 100)
    try writer.refreshHeader()
    #expect(try FileRepair.examine(path).isIntact)
    #expect(failure { _ = try FileRepair.examine(path, inPlace: true) }?.kind == .cannotOpen)
    try writer.finish()
    #expect(try FileRepair.examine(path, inPlace: true).isIntact)
  }

  @Test func `a copy does not replace another file or the original`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "r.wav", .wav, .s16, frames: 100)
    file.bytes.removeLast(2)
    file.store()
    folder.write([1, 2, 3], to: "taken")
    let finding = try FileRepair.examine(file.path)
    let taken = folder("taken")
    let own = file.path
    let discardBuffer = folder("none") + "/x"
    #expect(
      failure { try FileRepair.write(finding, to: taken, overwrite: false) }?.kind
        == .cannotCreate)
    #expect(
      failure { try FileRepair.write(finding, to: own, overwrite: true) }?.kind
        == .cannotCreate)
    #expect(
      failure { try FileRepair.write(finding, to: discardBuffer, overwrite: true) }?.kind
        == .cannotCreate)
    #expect(folder.bytes(of: "taken") == [1, 2, 3])
    #expect(folder.names == ["r.wav", "taken"])
    try FileRepair.write(finding, to: taken, overwrite: true)
    #expect(try load(taken).count == 198)
  }
}
