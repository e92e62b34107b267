import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@Suite struct WaveRepairTests {
  private func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  @Test(
    arguments: [0, 0x7FFF_FFFF, 0x7FFF_F000, 0xFFFF_FFFF, 0x10_0000, 400],
    [FileSampleFormat.s16, .s24, .float])
  func `a wrong length is corrected`(length: Int, format: FileSampleFormat) throws {
    let folder = TemporaryFolder()
    for channels in [1, 2, 3] {
      let name = "take\(channels).wav"
      var file = try BrokenFile(folder, name, .wav, format, frames: 5001, channels: channels)
      let whole = file.bytes
      let data = file.place(of: "data")
      file.set(little(length), at: data + 4)
      file.set(little(length), at: 4)
      let repaired = try file.repair()
      #expect(repaired?.finding.frames == 5001)
      let stated = length / (channels * format.byteCount)
      #expect(repaired?.finding.headerFrames == (length == 0xFFFF_FFFF ? nil : stated))
      let expected = integers(bits: 16, frames: 5001, channels: channels)
      #expect(repaired?.samples == list(expected))
      #expect(BrokenFile(reading: file.path).bytes == whole)
    }
  }

  @Test(arguments: 1...12) func `only complete frames remain of a truncated end`(cut: Int) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "t.wav", .wav, .s24, frames: 1001, channels: 1)
    // There is a padding byte.
    file.bytes.removeLast(cut)
    let repaired = try file.repair()
    let frames = 1001 - (cut + 1) / 3
    #expect(repaired?.finding.frames == frames)
    let expected = integers(bits: 16, frames: 1001, channels: 1)
    #expect(repaired?.samples == Array(list(expected)[..<frames]))
  }

  @Test func `complete chunks after the samples are kept, and a truncated one is removed`() throws {
    let folder = TemporaryFolder()
    for isLengthLost in [false, true] {
      for cut in [0, 3] where !(isLengthLost && cut > 0) {
        var file = try BrokenFile(folder, "c\(isLengthLost)\(cut).wav", .wav, .s16, frames: 500)
        let note = Array("LIST".utf8) + little(4) + Array("INFO".utf8)
        file.bytes += note + Array("cue ".utf8) + little(4) + little(0)
        file.set(little(file.bytes.count), at: 4)
        if isLengthLost { file.set(little(0), at: file.place(of: "data") + 4) }
        file.bytes.removeLast(cut)
        let repaired = try file.repair()
        #expect(repaired?.finding.frames == 500)
        let left = BrokenFile(reading: file.path).bytes
        #expect(Array(left.suffix(note.count)) == note || cut == 0)
        #expect(left.suffix(24).starts(with: note) || cut > 0)
      }
    }
  }

  @Test func `audio that resembles a chunk identifier is kept as audio`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "n.wav", .wav, .s16, frames: 500)
    let data = file.place(of: "data")
    file.set(little(400), at: data + 4)
    file.set(Array("abcd".utf8), at: data + 8 + 400)
    #expect(try file.repair()?.finding.frames == 500)
  }

  @Test func `a file above 4 GiB becomes RF64, in place if there is room, else in a copy`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "g.wav", .wav, .s16, frames: 1)
    let header = file.place(of: "data") + 8
    file.bytes.removeLast(4)
    let long = 4_400_000_000
    for hasRoom in [true, false] {
      if !hasRoom { file.set(Array("JUNX".utf8), at: 12) }
      file.store()
      truncate(file.path, header + long)
      let finding = try FileRepair.examine(file.path)
      #expect(finding.fileFormat == .rf64)
      #expect(finding.frames == long / 4)
      #expect(finding.needsCopy == !hasRoom)
      if hasRoom {
        try FileRepair.repairInPlace(finding)
        #expect(try FileRepair.examine(file.path).isIntact)
        let reader = try SoundFileReader(path: file.path)
        #expect(reader.frameCount == long / 4)
      } else {
        let refused = failure { try FileRepair.repairInPlace(finding) }
        #expect(refused?.kind == .invalidRequest)
      }
    }
  }

  @Test func `a lost header of more than 4 GiB is written as RF64`() throws {
    let folder = TemporaryFolder()
    folder.write([UInt8](repeating: 0, count: 4096) + [1, 2, 3, 4], to: "l.wav")
    truncate(folder("l.wav"), 80 + 4_400_000_000)
    let lostHeader = try LostHeader(sampleRate: 48000, channelCount: 2, sampleFormat: .s16)
    try FileRepair.repairInPlace(FileRepair.examine(folder("l.wav"), lostHeader: lostHeader))
    let finding = try FileRepair.examine(folder("l.wav"))
    #expect(finding.faults == [])
    #expect(finding.frames == 1_100_000_000)
  }

  @Test func `a length that wrapped around at 4 GiB is reconstructed`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "w.wav", .wav, .s16, frames: 1)
    let header = file.place(of: "data") + 8
    file.bytes.removeLast(4)
    let long = 4_400_000_000
    file.set(little(long), at: header - 4)
    file.set(little(long + header - 8), at: 4)
    file.store()
    truncate(file.path, header + long)
    #expect(try FileRepair.examine(file.path).frames == long / 4)
  }

  @Test(
    arguments: [FileSampleFormat.s16, .s24, .s32, .float], [1, 2])
  func `a header of zeros is rewritten from the given format`(
    format: FileSampleFormat, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    let path = folder("z.wav")
    try save(glide(frames: 9000, channels: channels), to: path, .wav, format)
    let original = try load(path)
    // Other programs write headers of other lengths; the start of the frames is detected.
    for extra in [0, 2, 4, 10] {
      var file = BrokenFile(reading: path)
      file.bytes.insert(contentsOf: [UInt8](repeating: 0, count: extra), at: 80)
      file.set([UInt8](repeating: 0, count: 4096), at: 0)
      let broken = folder("broken.wav")
      folder.write(file.bytes, to: "broken.wav")
      #expect(failure { _ = try FileRepair.examine(broken) }?.kind == .unusableContents)
      let lostHeader = try LostHeader(
        sampleRate: 48000, channelCount: channels, sampleFormat: format)
      try FileRepair.repairInPlace(FileRepair.examine(broken, lostHeader: lostHeader))
      #expect(try FileRepair.examine(broken).isIntact)
      let repaired = try load(broken)
      let common = 4000 * channels
      // Only the start of a sample can be detected, not the channel with which a frame begins.
      let shift = (0..<channels).first { shift in
        repaired.suffix(common) == original.dropLast(shift).suffix(common)
      }
      #expect(shift != nil, "\(extra)")
      #expect(shift == 0 || extra > 0)
    }
  }

  @Test(arguments: [FileSampleFormat.s16, .s24, .s32, .float], [1, 2])
  func `a lost header of 44 bytes is rewritten`(
    format: FileSampleFormat, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 9000, channels: channels), to: folder("z.wav"), .wav, format)
    var file = BrokenFile(reading: folder("z.wav"))
    let original = try load(folder("z.wav"))
    // The header that most programs write, without room for metadata.
    file.bytes.removeSubrange(44..<4096)
    for zeros in [44, 40] {
      file.set([UInt8](repeating: 0, count: zeros), at: 0)
      folder.write(file.bytes, to: "broken.wav")
      let lostHeader = try LostHeader(
        sampleRate: 48000, channelCount: channels, sampleFormat: format)
      let finding = try FileRepair.examine(folder("broken.wav"), lostHeader: lostHeader)
      #expect(finding.frames == 9000)
      #expect(finding.needsCopy == (format == .float))
      try FileRepair.write(finding, to: folder("mended.wav"), overwrite: true)
      #expect(try FileRepair.examine(folder("mended.wav")).isIntact)
      #expect(try load(folder("mended.wav")) == original)
      file.set([1, 2, 3, 4], at: 40)
    }
  }

  @Test(arguments: [12, 20, 44, 48])
  func `a header of which only the beginning is lost is restored from the rest`(
    zeros: Int
  ) throws {
    let folder = TemporaryFolder()
    for (kind, format) in [(FileFormat.wav, FileSampleFormat.s24), (.wav, .float), (.rf64, .s16)]
    where kind == .wav || zeros == 12 {
      var file = try BrokenFile(folder, "b\(format)", kind, format, frames: 5001)
      let whole = file.bytes
      file.set([UInt8](repeating: 0, count: zeros), at: 0)
      let repaired = try file.repair()
      #expect(repaired?.finding.frames == 5001)
      #expect(repaired?.finding.faults == ["the beginning of the header was lost"])
      #expect(BrokenFile(reading: file.path).bytes == whole)
    }
    // A header without room, in which the format chunk follows at once.
    var file = try BrokenFile(folder, "plain.wav", .wav, .s16, frames: 5001)
    let format = file.place(of: "fmt ")
    file.bytes.removeSubrange(12..<format)
    file.set([UInt8](repeating: 0, count: 12), at: 0)
    let repaired = try file.repair()
    #expect(repaired?.finding.frames == 5001)
    #expect(repaired?.samples == list(integers(bits: 16, frames: 5001, channels: 2)))
  }

  @Test func `an incomplete frame is removed together with the bytes after it`() throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "l.wav", .wav, .s24, frames: 1000, channels: 4)
    let data = file.place(of: "data")
    file.bytes.removeSubrange((data + 8 + 12000)...)
    // 12,002 bytes, of which the last two belong to an incomplete frame.
    file.set([0xE2, 0x2E, 0, 0], at: data + 4)
    file.bytes += [7, 7, 0xB1, 0xDD, 0xC6, 0xEE, 0xB1]
    #expect(try file.repair()?.finding.frames == 1000)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .caf], [0xFF00, 0x0104, 0x7F, 8, 6, 5, 1])
  func `a damaged frame size does not cut off the samples`(format: FileFormat, size: Int) throws {
    let folder = TemporaryFolder()
    var file = try BrokenFile(folder, "f", format, .s16, frames: 5001)
    let number = little(size, 2)
    switch format {
    case .caf: file.set(number.reversed(), at: file.place(of: "desc") + 12 + 18)
    case .w64: file.set(number, at: file.place(of: "fmt ") + 24 + 12)
    default: file.set(number, at: file.place(of: "fmt ") + 8 + 12)
    }
    let damaged = file.bytes
    file.store()
    // Players compute the size from the number of channels and of bits, or refuse the file.
    guard (try? load(file.path).count) == 2 * 5001 else {
      #expect(throws: FileFailure.self) { try FileRepair.examine(file.path) }
      return
    }
    let finding = try FileRepair.examine(file.path)
    #expect(finding.frames == 5001)
    if finding.isRepairable { try FileRepair.repairInPlace(finding) }
    #expect(BrokenFile(reading: file.path).bytes.count == damaged.count)
    #expect(try load(file.path) == list(integers(bits: 16, frames: 5001, channels: 2)))
  }

  @Test func `a block that is longer than all compressed samples is not taken for a torn end`()
    throws
  {
    let folder = TemporaryFolder()
    let format =
      little(0x11, 2) + little(1, 2) + little(8000) + little(4055) + little(0xFF00, 2)
      + little(4, 2) + little(2, 2) + little(505, 2)
    let body =
      Array("WAVEfmt ".utf8) + little(format.count) + format + Array("data".utf8) + little(2560)
      + [UInt8](repeating: 0x11, count: 2560)
    folder.write(Array("RIFF".utf8) + little(body.count) + body, to: "a.wav")
    #expect(throws: FileFailure.self) { try FileRepair.examine(folder("a.wav")) }
  }
}
