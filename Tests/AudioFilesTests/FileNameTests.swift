import Testing

@testable import AudioFiles

@Suite struct FileNameTests {
  @Test(arguments: [
    Array("plain.wav".utf8), [0x7A, 0xE9, 0x2E], [0xFF, 0xFE], [0xC3], [0xC3, 0xA9, 0xC3],
    [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xEF, 0xBF, 0xBD],
    [0xEE, 0xBE, 0x80], [0xEE, 0xBF, 0xBF, 0x41], [0xEE, 0xBE, 0x7F], [0xEF, 0x80, 0x80], [],
    [0xE2, 0x82], [0x65, 0xCC, 0x81],
  ])
  func `the bytes of a file name are preserved`(name: [UInt8]) {
    #expect(FileName.bytes(of: FileName.text(of: name)) == name)
  }

  @Test func `random bytes of a file name are preserved, and shown as UTF-8`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let name = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        // Often the first bytes of the scalars that represent invalid bytes.
        [UInt8.random(in: 1...255, using: &random), 0xEE, 0xBE, 0xBF].randomElement() ?? 1
      }
      let text = FileName.text(of: name)
      #expect(FileName.bytes(of: text) == name)
      let isPrivate = FileName.shown(text).unicodeScalars.contains {
        (0xEF80...0xEFFF).contains($0.value)
      }
      #expect(!isPrivate)
    }
  }

  @Test func `bytes that are not UTF-8 are shown as replacement characters`() {
    #expect(FileName.shown(FileName.text(of: [0x7A, 0xE9])) == "z\u{FFFD}")
    #expect(FileName.shown("plain") == "plain")
  }

  @Test(arguments: [
    ("a/b.wav", "a", "b.wav", "wav", "a/b-2.wav"), ("b", ".", "b", "", "b-2"),
    ("/b.FLAC", "/", "b.FLAC", "flac", "/b-2.FLAC"), ("a.d/b", "a.d", "b", "", "a.d/b-2"),
    ("a/.b", "a", ".b", "", "a/.b-2"),
    ("a/\u{301}b.\u{301}c", "a", "\u{301}b.\u{301}c", "\u{301}c", "a/\u{301}b-2.\u{301}c"),
  ])
  func `a path is split into folder, name and extension`(
    path: String, folder: String, name: String, ending: String, numbered: String
  ) {
    #expect(FileName.folder(of: path) == folder)
    #expect(FileName.last(of: path).utf8.elementsEqual(name.utf8))
    #expect(FileName.ending(of: path).utf8.elementsEqual(ending.utf8))
    #expect(FileName.insert("-2", into: path).utf8.elementsEqual(numbered.utf8))
  }

  @Test(arguments: [
    ("http://user:secret@host/a.mp3", "http://host/a.mp3"),
    ("https://user@host:8000", "https://host:8000"),
    ("HTTP://u:s@e@host?q=a@b", "HTTP://host?q=a@b"),
    ("http://user:se/cr#et@host/a", "http://host/a"), ("http://u:secret@[bad", "http://[bad"),
    ("ftp://user:secret@host/a", "ftp://host/a"), ("http://host:80/@name", "http://host:80/@name"),
    ("http://[::1]/@name", "http://[::1]/@name"), ("a:b@c.wav", "a:b@c.wav"), ("", ""),
    ("http://", "http://"), ("http:/user:secret@host/a.mp3", "http:/host/a.mp3"),
    ("HTTPS:user:secret@host/a", "HTTPS:host/a"), ("http:\\\\u:secret@h\\a", "http:\\\\h\\a"),
    ("http:///user:secret@host", "http:///host"), ("http:", "http:"),
    ("https:a.wav", "https:a.wav"),
  ])
  func `messages contain addresses without user and password`(address: String, name: String) {
    #expect(FileName.withoutUser(address) == name)
    let error = SystemError(number: 2)
    for failure in [FileFailure.opening(address, error), .creating(address, error)] {
      #expect(!failure.message.contains("secret"))
    }
  }

  @Test(arguments: ["http://user:secret@[bad", "http://user:secret@host:x/", "http://u:se/cret@h"])
  func `messages contain invalid addresses without user and password`(address: String) {
    let trouble = failure {
      try CurlLibrary.load()
      _ = try WebAddress(address)
    }
    #expect(trouble != nil && trouble?.message.contains("cret") == false)
  }

  @Test func `a list of names keeps every byte, and frees the names that are removed`() {
    let names =
      [""] + (0..<2000).map { FileName.text(of: [UInt8(250 - $0 % 200), 0xE9, 0x41]) + "\($0)" }
      + [String(repeating: "x", count: 100_000), "", "ü"]
    var list = NameList()
    for name in names { list.append(name) }
    #expect(list.count == names.count)
    #expect(names.indices.allSatisfy { list[$0] == names[$0] })
    #expect(list.byteCount == names.reduce(0) { $0 + FileName.bytes(of: $1).count })
    var taken: [String] = []
    while let name = list.takeFirst() { taken.append(name) }
    #expect(taken == names && list.byteCount == 0)
    #expect(list[1].isEmpty)
  }

  @Test func `an extended name is shortened to the maximum length of a file name`() {
    #expect(FileName.insert("-x", into: "a/b.wav") == "a/b-x.wav")
    let long = String(repeating: "é", count: 124)
    let grown = FileName.insert("-region", into: "folder/\(long).wav")
    #expect(FileName.last(of: grown).utf8.count <= 255 && grown.hasSuffix("é-region.wav"))
    #expect(grown.hasPrefix("folder/éé"))
  }

  @Test(arguments: [
    (String(repeating: "x", count: 251) + ".wav", String(repeating: "x", count: 247) + "-002.wav"),
    (String(repeating: "x", count: 247) + ".wav", String(repeating: "x", count: 247) + "-002.wav"),
    // Each of these bytes is three bytes in the text that stands for the name.
    (
      FileName.text(of: [UInt8](repeating: 0xE9, count: 200)) + ".wav",
      FileName.text(of: [UInt8](repeating: 0xE9, count: 200)) + "-002.wav"
    ),
    (
      FileName.text(of: [UInt8](repeating: 0xE9, count: 251)) + ".wav",
      FileName.text(of: [UInt8](repeating: 0xE9, count: 247)) + "-002.wav"
    ),
    (String(repeating: "x", count: 255), String(repeating: "x", count: 251) + "-002"),
    ("a." + String(repeating: "y", count: 253), "-002." + String(repeating: "y", count: 250)),
  ])
  func `a number fits into the longest name`(name: String, numbered: String) {
    let path = FileName.insert("-002", into: "folder/" + name)
    #expect(path.utf8.elementsEqual("folder/\(numbered)".utf8))
    #expect(FileName.bytes(of: numbered).count <= 255)
  }

  @Test func `a name with a zero byte is refused for that reason`() {
    for read in [
      { _ = try SoundFileReader(path: "a\0b.wav") }, { _ = try Decoding.decoder(forPath: "a\0b") },
    ] as [() throws -> Void] {
      #expect(failure(read)?.message == "The name of a file cannot hold a zero byte.")
    }
  }
}
