import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

/// Tests of the metadata of files.
@Suite struct FileNotesTests {
  private var tags: SoundFileTags {
    var tags = SoundFileTags()
    tags.title = "Grüße 音"
    tags.artist = "Zoë"
    tags.comment = "in one take"
    tags.date = "2026-11-21"
    return tags
  }

  private func writer(
    _ path: String, _ format: FileFormat = .wav, _ samples: FileSampleFormat = .s24,
    tags: SoundFileTags = SoundFileTags()
  ) throws -> SoundFileWriter {
    try SoundFileWriter(
      path: path, fileFormat: format, sampleFormat: samples, sampleRate: 48000, channelCount: 1,
      overwrite: false, tags: tags)
  }

  @Test(arguments: [FileFormat.wav, .rf64, .aiff, .caf, .flac, .ogg, .opus, .mp3])
  func `tags are read back`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    var writer = try writer(folder("t"), format, format.nearest(to: .s16), tags: tags)
    try writer.write(glide(frames: 5000, channels: 1), frames: 5000)
    try writer.finish()
    let read = try Decoding.decoder(forPath: folder("t")).tags
    #expect(read.title == tags.title)
    #expect(read.artist == tags.artist)
    #expect(read.comment == tags.comment)
    // AIFF has no field for a date, and MP3 stores only the year.
    if format != .aiff { #expect(read.date?.hasPrefix("2026") == true) }
  }

  @Test(arguments: [
    ("Grüße", "Zoë", "Köln", "Grüße", "Köln"), ("音", "Zoë", "", "?", ""),
    (String(repeating: "é", count: 100), "", "", String(repeating: "é", count: 30), ""),
    ("a", "b", String(repeating: "ü", count: 40), "a", String(repeating: "ü", count: 30)),
  ])
  func `tags of MP3 are UTF-8 before the audio, and ISO 8859-1 after it`(
    texts: (title: String, artist: String, comment: String, latinTitle: String, latin: String)
  ) throws {
    let folder = TemporaryFolder()
    var tags = SoundFileTags()
    (tags.title, tags.artist, tags.comment) = (texts.title, texts.artist, texts.comment)
    tags.date = "2026"
    var writer = try writer(folder("t.mp3"), .mp3, .float, tags: tags)
    try writer.write(glide(frames: 48000, channels: 1), frames: 48000)
    try writer.finish()
    let bytes = folder.bytes(of: "t.mp3")
    #expect(bytes.starts(with: Array("ID3".utf8) + [4, 0, 0]))
    let size = bytes[6..<10].reduce(0) { $0 << 7 | Int($1) }
    #expect(bytes[10 + size] == 0xFF)
    var found: [String: String] = [:]
    var offset = 10
    while offset < 10 + size, bytes[offset] != 0 {
      let count = bytes[offset + 4..<offset + 8].reduce(0) { $0 << 7 | Int($1) }
      let body = bytes[offset + 10..<offset + 10 + count]
      let name = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
      let text = body.dropFirst(name == "COMM" ? 5 : 1)
      let isASCII = text.allSatisfy { $0 < 0x80 }
      #expect(body.first == 3 || body.first == 0 && isASCII)
      found[name] = String(validating: text, as: UTF8.self)
      offset += 10 + count
    }
    #expect(found["TIT2"] == texts.title && found["TDRC"] == "2026" && found["TYER"] == nil)
    #expect(found["TPE1"] == (texts.artist.isEmpty ? nil : texts.artist))
    #expect(found["COMM"] == (texts.comment.isEmpty ? nil : texts.comment))
    let end = Array(bytes.suffix(128))
    func latin(_ range: Range<Int>) -> String {
      String(String.UnicodeScalarView(end[range].prefix { $0 != 0 }.map { Unicode.Scalar($0) }))
    }
    #expect(end.starts(with: Array("TAG".utf8)))
    #expect(latin(3..<33) == texts.latinTitle && latin(97..<127) == texts.latin)
    #expect(latin(33..<63) == texts.artist && latin(93..<97) == "2026")
    let read = try Decoding.decoder(forPath: folder("t.mp3"))
    #expect(read.tags.title == texts.title && (read.frameCount ?? 0) >= 48000)
  }

  @Test(arguments: [FileFormat.wav, .rf64], [FileSampleFormat.s16, .s24, .float])
  func `samples always begin at the same offset`(
    format: FileFormat, samples: FileSampleFormat
  ) throws {
    let folder = TemporaryFolder()
    var long = tags
    long.title = String(repeating: "é", count: 5000)
    long.comment = String(repeating: "x", count: 5000)
    for (name, tags) in [("none", SoundFileTags()), ("some", tags), ("long", long)] {
      var writer = try writer(folder(name), format, samples, tags: tags)
      for frame in 0..<100 { writer.mark(SoundFileMarker(frame: frame, label: "m\(frame)")) }
      try writer.write(integers(bits: 16, frames: 101, channels: 1), frames: 101)
      try writer.finish()
      let chunks = WaveChunks(folder.bytes(of: name))
      let data = chunks.only("data")
      #expect(data?.start == 4096)
      #expect(data?.bytes.count == 101 * samples.byteCount)
      #expect(chunks.only("fmt ") != nil && chunks.only("bext")?.bytes.count == 602)
      #expect(chunks.markers.count == 100)
    }
  }

  @Test func `a recording stores its origination time and its loudness`() throws {
    let folder = TemporaryFolder()
    var writer = try writer(folder("b"), tags: tags)
    try writer.refreshHeader()
    let before = try #require(WaveChunks(folder.bytes(of: "b")).only("bext")?.bytes)
    #expect(before[320..<346].allSatisfy { $0 == 0 })
    #expect(before.number(412, 2) == 0x7FFF)
    let origination = Origination(
      nanosecondsSinceEpoch: 1_795_000_000_250_000_000, sampleRate: 48000)
    writer.setOrigination(origination)
    try writer.refreshHeader()
    writer.setLoudness(
      integratedLUFS: -23.05, rangeLU: 7.5, truePeakDBTP: -0.5, momentaryLUFS: -120,
      shortTermLUFS: nil)
    try writer.finish()
    let bext = try #require(WaveChunks(folder.bytes(of: "b")).only("bext")?.bytes)
    #expect(bext.text(0, 256) == "Grüße 音")
    #expect(bext.text(256, 32) == "duplex")
    #expect(bext.text(320, 10) == origination.date)
    #expect(bext.text(330, 8) == origination.time)
    #expect(bext.number(338, 8) == UInt64(origination.timeReference))
    #expect(bext.number(346, 2) == 2)
    let loudness = (0..<5).map { Int16(truncatingIfNeeded: bext.number(412 + 2 * $0, 2)) }
    #expect(loudness == [-2305, 750, -50, 0x7FFF, 0x7FFF])
  }

  @Test(arguments: [8000, 44100, 768_000])
  func `the time reference counts frames since local midnight`(rate: Int) {
    let origination = Origination(
      nanosecondsSinceEpoch: 1_795_000_000_250_000_000, sampleRate: rate)
    let parts = origination.time.split(separator: ":").compactMap { Int($0) }
    #expect(parts.count == 3 && origination.time.utf8.count == 8)
    let seconds = parts.reduce(0) { $0 * 60 + $1 }
    #expect(origination.timeReference == seconds * rate + rate / 4)
    // The date is 2026-11-18 in London.
    #expect(["2026-11-17", "2026-11-18", "2026-11-19"].contains(origination.date))
  }

  @Test func `markers are stored in the file while it is recorded`() throws {
    let folder = TemporaryFolder()
    var writer = try writer(folder("m"))
    try writer.write(integers(bits: 24, frames: 999, channels: 1), frames: 999)
    writer.mark(SoundFileMarker(frame: 500, label: "später"))
    writer.mark(SoundFileMarker(frame: 20, label: ""))
    try writer.refreshHeader()
    let markers = WaveChunks(folder.bytes(of: "m")).markers
    #expect(markers.map(\.frame) == [20, 500])
    #expect(markers.map(\.label) == ["", "später"])
    #expect(try load(folder("m")).count == 999)
    try writer.finish()
    #expect(WaveChunks(folder.bytes(of: "m")).markers.map(\.frame) == [20, 500])
  }

  @Test func `more markers than fit into the header are all stored at the end`() throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 24, frames: 999, channels: 1)
    var writer = try writer(folder("m"))
    try writer.write(sound, frames: 999)
    for frame in 0..<300 { writer.mark(SoundFileMarker(frame: frame, label: "take \(frame)")) }
    try writer.refreshHeader()
    let early = WaveChunks(folder.bytes(of: "m")).markers
    #expect(early.count > 50 && early.count < 300)
    #expect(early.map(\.frame) == Array(0..<early.count))
    try writer.finish()
    let chunks = WaveChunks(folder.bytes(of: "m"))
    #expect(chunks.markers.map(\.frame) == Array(0..<300))
    #expect(chunks.markers.last?.label == "take 299")
    #expect(chunks.bytes.number(4, 4) == UInt64(chunks.bytes.count - 8))
    let isSame = try load(folder("m")) == list(sound)
    #expect(isSame)
  }
}
