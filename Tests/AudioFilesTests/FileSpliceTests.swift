import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

@Suite struct FileSpliceTests {
  /// Writes frames whose samples are the frame number plus `base`, divided by 32768.
  private func write(
    _ path: String, frames: Int, base: Int, _ format: FileFormat, _ sample: FileSampleFormat
  ) throws {
    var writer = try SoundFileWriter(
      path: path, fileFormat: format, sampleFormat: sample, sampleRate: 48000, channelCount: 2,
      overwrite: true)
    var buffer = SampleBuffer(frameCount: frames, channelCount: 2)
    for index in 0..<buffer.sampleCount { buffer[index] = Float(base + index % 1000) / 32768 }
    try writer.write(buffer, frames: frames)
    try writer.finish()
  }

  @Test(arguments: [
    (FileFormat.wav, FileSampleFormat.s16), (.wav, .float), (.flac, .s24), (.aiff, .s16),
  ])
  func `a region is replaced, and the other frames are unchanged`(
    format: FileFormat, sample: FileSampleFormat
  )
    throws
  {
    let folder = TemporaryFolder()
    let take = folder("take")
    let region = folder("region")
    try write(take, frames: 10_000, base: 0, format, sample)
    try write(region, frames: 3000, base: 5000, format, sample)
    let before = try load(take)
    let splice = try FileSplice(path: take)
    try splice.replace(from: 4000, with: region, minimumFrames: 0, isNew: false)
    let after = try load(take)
    #expect(after.count == before.count)
    #expect(after[..<8000] == before[..<8000])
    #expect(after[14_000...] == before[14_000...])
    #expect(after[8000] == Float(5000) / 32768)
    #expect(!SoundFileReader.exists(region))
  }

  @Test func `a region after the end extends the file, with silence in between`() throws {
    let folder = TemporaryFolder()
    let take = folder("take.wav")
    let region = folder("region.wav")
    try write(take, frames: 100, base: 1, .wav, .s16)
    try write(region, frames: 50, base: 9, .wav, .s16)
    try FileSplice(path: take).replace(from: 200, with: region, minimumFrames: 300, isNew: false)
    let after = try load(take)
    #expect(after.count == 600)
    #expect(after[200..<400].contains { $0 != 0 } == false)
    #expect(after[400] == Float(9) / 32768)
    #expect(after[500..<600].contains { $0 != 0 } == false)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .flac])
  func `the metadata of a file is kept, and the markers of the region are added`(
    format: FileFormat
  ) throws {
    let folder = TemporaryFolder()
    var tags = SoundFileTags()
    (tags.title, tags.artist) = ("Take", "Somebody")
    let time = Origination(nanosecondsSinceEpoch: 1_790_000_000_000_000_000, sampleRate: 48000)
    func write(_ path: String, frames: Int, _ tags: SoundFileTags, marks: [Int]) throws {
      var writer = try SoundFileWriter(
        path: path, fileFormat: format, sampleFormat: .s16, sampleRate: 48000, channelCount: 1,
        overwrite: false, tags: tags)
      writer.setOrigination(time)
      for frame in marks { writer.mark(SoundFileMarker(frame: frame, label: "at \(frame)")) }
      try writer.write(SampleBuffer(frameCount: frames, channelCount: 1), frames: frames)
      try writer.finish()
    }
    try write(folder("take"), frames: 10_000, tags, marks: [0, 3999, 4000, 6999, 7000, 9000])
    try write(folder("region"), frames: 3000, SoundFileTags(), marks: [10, 2999])
    let before = try SoundFileReader(path: folder("take"))
    let splice = try FileSplice(path: folder("take"))
    try splice.replace(from: 4000, with: folder("region"), minimumFrames: 0, isNew: false)
    let after = try SoundFileReader(path: folder("take"))
    #expect(after.tags == before.tags && after.tags.title == "Take")
    #expect(after.origination == before.origination)
    guard format != .flac else { return }
    #expect(after.origination == time)
    #expect(after.markers.map(\.frame) == [0, 3999, 4010, 6999, 7000, 9000])
    #expect(after.markers.map(\.label).contains("at 10"))
  }

  @Test func `a file in a lossy format is refused`() throws {
    let folder = TemporaryFolder()
    let take = folder("take.ogg")
    try write(take, frames: 1000, base: 0, .ogg, .float)
    #expect(throws: FileFailure.self) { try FileSplice(path: take) }
  }

  @Test func `a failed splice leaves the file unchanged`() throws {
    let folder = TemporaryFolder()
    let take = folder("take.wav")
    try write(take, frames: 100, base: 1, .wav, .s16)
    let before = try load(take)
    let splice = try FileSplice(path: take)
    let missing = folder("none")
    #expect(throws: FileFailure.self) {
      try splice.replace(from: 10, with: missing, minimumFrames: 0, isNew: false)
    }
    #expect(try load(take) == before)
  }

  @Test(arguments: [(44100, 2), (48000, 1), (48000, 3)], [false, true])
  func `a region of another rate or number of channels is refused`(
    region: (rate: Int, channels: Int), isNew: Bool
  ) throws {
    let folder = TemporaryFolder()
    let take = folder("take.wav")
    try write(take, frames: 100, base: 1, .wav, .s16)
    let before = folder.bytes(of: "take.wav")
    try save(
      integers(bits: 16, frames: 50, channels: region.channels), to: folder("region.wav"), .wav,
      .s16, sampleRate: region.rate)
    let splice = try FileSplice(path: take)
    let refusal = failure {
      try splice.replace(from: 10, with: folder("region.wav"), minimumFrames: 0, isNew: isNew)
    }
    #expect(refusal?.kind == .invalidRequest)
    #expect(refusal?.message.contains("\(region.rate) Hz") == true)
    #expect(folder.bytes(of: "take.wav") == before && SoundFileReader.exists(folder("region.wav")))
  }

  @Test func `a file of procfs is read completely although its size is 0`() throws {
    let text = try TextFile.read("/proc/self/maps")
    #expect(text.utf8.count > 4096 && text.hasSuffix("\n"))
    let folder = TemporaryFolder()
    for (count, isRead) in [(8191, true), (8192, true), (8193, false)] {
      folder.write([UInt8](repeating: 65, count: count), to: "text")
      let trouble = failure { _ = try TextFile.read(folder("text"), limit: 8192) }
      #expect((trouble == nil) == isRead)
    }
  }

  @Test func `a text file is replaced completely, and read back`() throws {
    let folder = TemporaryFolder()
    let path = folder("c.json")
    try TextFile.write("one\n", to: path)
    try TextFile.write("two ü\n", to: path)
    #expect(try TextFile.read(path) == "two ü\n")
    let missing = folder("none")
    #expect(throws: FileFailure.self) { try TextFile.read(missing) }
    #expect(throws: FileFailure.self) { try TextFile.write("x", to: "/proc/none/x") }
  }

  @Test func `thousands of markers with labels are kept`() throws {
    let folder = TemporaryFolder()
    let (take, region) = (folder("take.wav"), folder("region.wav"))
    let markers = (0..<3000).map { SoundFileMarker(frame: 3 * $0, label: "at \(3 * $0)") }
    var writer = try SoundFileWriter(
      path: take, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2,
      overwrite: false)
    for marker in markers { writer.mark(marker) }
    try writer.write(SampleBuffer(frameCount: 9000, channelCount: 2), frames: 9000)
    try writer.finish()
    #expect(try SoundFileReader(path: take).markers == markers)
    try write(region, frames: 300, base: 5000, .wav, .s16)
    try FileSplice(path: take).replace(from: 600, with: region, minimumFrames: 0, isNew: false)
    let kept = markers.filter { !(600..<900).contains($0.frame) }
    #expect(try SoundFileReader(path: take).markers == kept)
  }

  @Test func `the parts that a splice would lose are listed`() throws {
    let folder = TemporaryFolder()
    try write(folder("a.wav"), frames: 100, base: 1, .wav, .s16)
    #expect(try FileSplice(path: folder("a.wav")).lostParts == [])
    var bytes = folder.bytes(of: "a.wav")
    for name in ["iXML", "smpl", "iXML"] { bytes += Array(name.utf8) + [2, 0, 0, 0, 0x20, 0x20] }
    let size = bytes.count - 8
    for byte in 0..<4 { bytes[4 + byte] = UInt8(truncatingIfNeeded: size >> (8 * byte)) }
    folder.write(bytes, to: "a.wav")
    #expect(try FileSplice(path: folder("a.wav")).lostParts == ["iXML", "smpl"])

    try write(folder("b.flac"), frames: 100, base: 1, .flac, .s16)
    #expect(try FileSplice(path: folder("b.flac")).lostParts == [])
    var flac = folder.bytes(of: "b.flac")
    // A block after the first one, which has 34 bytes and is not the last one.
    try #require(flac[4] == 0)
    flac.insert(contentsOf: [2, 0, 0, 4] + Array("test".utf8), at: 4 + 4 + 34)
    folder.write(flac, to: "b.flac")
    #expect(try FileSplice(path: folder("b.flac")).lostParts == ["APPLICATION"])
  }

  /// Returns the lost parts of `bytes` with `chunk` appended, whose form is extended by its length.
  private func lostParts(
    _ bytes: [UInt8], with chunk: [UInt8], _ folder: TemporaryFolder, isBig: Bool = false
  ) throws -> [String] {
    var file = bytes + chunk
    let size = file.count - 8
    for byte in 0..<4 {
      file[4 + byte] = UInt8(truncatingIfNeeded: size >> (8 * (isBig ? 3 - byte : byte)))
    }
    folder.write(file, to: "lost")
    return try FileSplice(path: folder("lost")).lostParts
  }

  private func chunk(_ name: String, _ contents: [UInt8], isBig: Bool = false) -> [UInt8] {
    let size = (0..<4).map { UInt8(truncatingIfNeeded: contents.count >> (8 * $0)) }
    let padding = [UInt8](repeating: 0, count: contents.count % 2)
    return Array(name.utf8) + (isBig ? size.reversed() : size) + contents + padding
  }

  @Test func `tags, labels and an originator that a splice would lose are listed`() throws {
    let folder = TemporaryFolder()
    try write(folder("a.wav"), frames: 100, base: 1, .wav, .s16)
    let plain = folder.bytes(of: "a.wav")
    let tags =
      Array("INFO".utf8) + chunk("INAM", Array("Name\0".utf8)) + chunk("IGNR", Array("Jazz\0".utf8))
      + chunk("ISFT", Array("Lavf\0".utf8)) + chunk("INAM", Array("Second\0".utf8))
      + chunk("ICMT", [UInt8](repeating: 0x61, count: 700))
    #expect(
      try lostParts(plain, with: chunk("LIST", tags), folder) == ["IGNR", "INAM", "ICMT"])
    let labels =
      Array("adtl".utf8) + chunk("labl", [1, 0, 0, 0, 0x61, 0]) + chunk("note", [1, 0, 0, 0, 0, 0])
      + chunk("ltxt", [UInt8](repeating: 0, count: 20))
    #expect(try lostParts(plain, with: chunk("LIST", labels), folder) == ["note", "ltxt"])
    var foreign = plain
    let place = try #require(plain.indices.first { plain[$0...].starts(with: Array("bext".utf8)) })
    foreign.replaceSubrange(place + 8 + 256..<place + 8 + 262, with: Array("Zoom F".utf8))
    #expect(try lostParts(foreign, with: [], folder) == ["bext"])
  }

  @Test func `chunks of AIFF, CAF and Wave64 that a splice would lose are listed`() throws {
    let folder = TemporaryFolder()
    for format in [FileFormat.aiff, .caf, .w64] {
      var tags = SoundFileTags()
      (tags.title, tags.artist, tags.comment) = ("T", "A", "C")
      (tags.album, tags.date) = ("B", "2026")
      var writer = try SoundFileWriter(
        path: folder("own.\(format)"), fileFormat: format, sampleFormat: .s16, sampleRate: 48000,
        channelCount: 2, overwrite: false, tags: tags)
      try writer.write(SampleBuffer(frameCount: 10, channelCount: 2), frames: 10)
      try writer.finish()
      #expect(try FileSplice(path: folder("own.\(format)")).lostParts == [])
    }
    let chunks =
      chunk("MARK", [0, 0], isBig: true) + chunk("INST", [0, 0], isBig: true)
      + chunk("APPL", Array("stocABCD".utf8), isBig: true) + chunk("ANNO", [0x61], isBig: true)
      + chunk("ANNO", [0x62], isBig: true)
    let lost = try lostParts(folder.bytes(of: "own.aiff"), with: chunks, folder, isBig: true)
    #expect(lost == ["MARK", "INST", "APPL", "ANNO"])

    func long(_ name: String, _ contents: [UInt8]) -> [UInt8] {
      Array(name.utf8) + [0, 0, 0, 0, 0, 0, 0, UInt8(contents.count)] + contents
    }
    let information = [0, 0, 0, 1] + Array("genre\0G\0".utf8)
    var core = folder.bytes(of: "own.caf")
    core += long("mark", [0, 0, 0, 0]) + long("info", information)
    folder.write(core, to: "more.caf")
    #expect(try FileSplice(path: folder("more.caf")).lostParts == ["mark", "genre"])

    let guid: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
    var sony = folder.bytes(of: "own.w64")
    sony += Array("bext".utf8) + guid + [32, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
    folder.write(sony, to: "more.w64")
    #expect(try FileSplice(path: folder("more.w64")).lostParts == ["bext"])
  }

  @Test func `comments of FLAC that a splice would lose are listed`() throws {
    let folder = TemporaryFolder()
    try write(folder("b.flac"), frames: 100, base: 1, .flac, .s16)
    var flac = folder.bytes(of: "b.flac")
    func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count), 0, 0, 0] + Array(text.utf8) }
    let comments = [
      "Title=T", "artist=A", "ARTIST=B", "TRACKNUMBER=1", "REPLAYGAIN_TRACK_GAIN=0 dB", "encoder=x",
    ]
    let block = text("vendor") + [UInt8(comments.count), 0, 0, 0] + comments.flatMap(text)
    // Replaces the comments that follow the first block, and adds a block of an unknown type.
    let place = 4 + 4 + 34
    try #require(flac[place] & 0x7F == 4)
    let size = Int(flac[place + 1]) << 16 | Int(flac[place + 2]) << 8 | Int(flac[place + 3])
    flac.replaceSubrange(
      place..<place + 4 + size,
      with: [4, 0, 0, UInt8(block.count)] + block + [0x80 | 9, 0, 0, 1, 7])
    folder.write(Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0] + flac, to: "b.flac")
    #expect(
      try FileSplice(path: folder("b.flac")).lostParts
        == ["ID3", "ARTIST", "TRACKNUMBER", "REPLAYGAIN_TRACK_GAIN", "block9"])
  }

  @Test func `markers are read after an ID3 tag, and in big-endian files`() throws {
    let folder = TemporaryFolder()
    var writer = try SoundFileWriter(
      path: folder("a.wav"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 1, overwrite: false)
    writer.mark(SoundFileMarker(frame: 1000, label: "here"))
    try writer.write(SampleBuffer(frameCount: 2000, channelCount: 1), frames: 2000)
    try writer.finish()
    let plain = folder.bytes(of: "a.wav")
    folder.write(Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0] + plain, to: "tagged.wav")
    #expect(
      try SoundFileReader(path: folder("tagged.wav")).markers.map(\.frame) == [1000])

    // RIFX: all numbers have the opposite byte order.
    func number(_ value: Int) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
      Array(name.utf8) + number(body.count) + body
    }
    let format: [UInt8] = [0, 1, 0, 1] + number(48000) + number(96000) + [0, 2, 0, 16]
    let cue =
      number(1) + number(7) + number(0) + Array("data".utf8) + number(0) + number(0) + number(1000)
    let label = Array("adtl".utf8) + chunk("labl", number(7) + Array("here".utf8) + [0, 0])
    let chunks =
      chunk("fmt ", format) + chunk("data", [UInt8](repeating: 0, count: 4000)) + chunk("cue ", cue)
      + chunk("LIST", label)
    folder.write(
      Array("RIFX".utf8) + number(chunks.count + 4) + Array("WAVE".utf8) + chunks, to: "x.wav")
    let marker = SoundFileMarker(frame: 1000, label: "here")
    #expect(try SoundFileReader(path: folder("x.wav")).markers == [marker])
  }

  @Test func `a bext chunk with fields that a splice would lose is listed`() throws {
    let folder = TemporaryFolder()
    var writer = try SoundFileWriter(
      path: folder("a.wav"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 1, overwrite: false)
    writer.setOrigination(
      Origination(nanosecondsSinceEpoch: 1_790_000_000_000_000_000, sampleRate: 48000))
    try writer.write(SampleBuffer(frameCount: 10, channelCount: 1), frames: 10)
    try writer.finish()
    #expect(try FileSplice(path: folder("a.wav")).lostParts == [])
    var bytes = folder.bytes(of: "a.wav")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("bext".utf8)) })
    // The first byte of the originator's reference.
    bytes[place + 8 + 288] = UInt8(ascii: "R")
    folder.write(bytes, to: "a.wav")
    #expect(try FileSplice(path: folder("a.wav")).lostParts == ["bext"])
  }

  @Test func `a failure has a hint that is a sentence`() throws {
    let folder = TemporaryFolder()
    try write(folder("region"), frames: 10, base: 0, .wav, .s16)
    let splice = FileSplice(
      newPath: folder("new"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 44100,
      channelCount: 2)
    let found = failure {
      try splice.replace(from: 0, with: folder("region"), minimumFrames: 0, isNew: true)
    }
    #expect(found?.hint == "The region alone is \(folder("region")).")
  }
}
