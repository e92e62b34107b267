import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

/// Tests that an existing file is kept until a better one is complete.
@Suite struct DraftTests {
  private func writer(
    _ path: String, _ format: FileFormat = .wav, tags: SoundFileTags = SoundFileTags(),
    appearance: SoundFileWriter.Appearance = .readable
  ) throws -> SoundFileWriter {
    try SoundFileWriter(
      path: path, fileFormat: format, sampleFormat: format.nearest(to: .s16), sampleRate: 48000,
      channelCount: 1, overwrite: true, tags: tags, appearance: appearance)
  }

  @Test(arguments: FileFormat.allCases)
  func `an existing file is kept until the new one has readable frames`(
    format: FileFormat
  ) throws {
    let folder = TemporaryFolder()
    folder.write([1, 2, 3], to: "take")
    let sound = glide(frames: 480, channels: 1)
    var new = try writer(folder("take"), format)
    var count = 0
    while folder.bytes(of: "take") == [1, 2, 3], count < 100 {
      #expect(folder.names == ["take"])
      try new.write(sound, frames: 480)
      count += 1
    }
    #expect(count <= 50, "it appears within half a second")
    if format != .raw { #expect(try load(folder("take")).count > 0) }
    try new.finish()
    #expect(folder.names == ["take"])
  }

  @Test(arguments: [FileFormat.wav, .flac, .opus])
  func `a writer released before its first frame leaves the folder unchanged`(
    format: FileFormat
  ) throws {
    let folder = TemporaryFolder()
    folder.write([1, 2, 3], to: "take")
    do { _ = try writer(folder("take"), format) }
    do { _ = try writer(folder("new"), format) }
    #expect(folder.bytes(of: "take") == [1, 2, 3])
    #expect(folder.names == ["take"])
  }

  @Test func `a file that appears when it is finished never appears earlier or unfinished`() throws
  {
    let folder = TemporaryFolder()
    let sound = glide(frames: 4800, channels: 1)
    do {
      var lost = try writer(folder("take"), appearance: .finished)
      try lost.write(sound, frames: 4800)
      try lost.refreshHeader()
      #expect(folder.names == [])
    }
    #expect(folder.names == [])
    var whole = try writer(folder("take"), appearance: .finished)
    try whole.write(sound, frames: 4800)
    try whole.finish()
    #expect(try load(folder("take")).count == 4800)
  }

  @Test func `a second writer of a file is refused before and after the file is replaced`() throws {
    let folder = TemporaryFolder()
    folder.write([1, 2, 3], to: "take")
    let path = folder("take")
    var first = try writer(path)
    #expect(failure { _ = try writer(path) }?.kind == .cannotCreate)
    try first.write(glide(frames: 48, channels: 1), frames: 48)
    #expect(failure { _ = try writer(path) }?.kind == .cannotCreate)
    try first.finish()
    #expect(failure { _ = try writer(path) } == nil)
    #expect(try load(path).count == 48)
  }

  @Test func `a name that another file took is not replaced, and no frame is lost`() throws {
    let folder = TemporaryFolder()
    let sound = glide(frames: 480, channels: 1)
    var new = try SoundFileWriter(
      path: folder("take"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 1, overwrite: false)
    folder.write([1, 2, 3], to: "take")
    try new.write(sound, frames: 480)
    let isNameTaken = new.isNameTaken
    #expect(isNameTaken)
    #expect(folder.bytes(of: "take") == [1, 2, 3])
    try new.restore(as: folder("other"))
    try new.write(sound, frames: 480)
    try new.finish()
    #expect(try load(folder("other")).count == 960)
  }

  @Test(arguments: [FileFormat.wav, .w64, .aiff, .caf, .flac, .ogg, .opus, .mp3])
  func `a file that another program truncates or overwrites is detected`(format: FileFormat) throws
  {
    let folder = TemporaryFolder()
    let sound = glide(frames: 48000, channels: 1)
    for isCut in [true, false] {
      var new = try writer(folder("take"), format)
      try new.write(sound, frames: 48000)
      try new.refreshHeader()
      let before = new.isModifiedByOthers
      #expect(!before)
      folder.write([UInt8](repeating: 7, count: isCut ? 20 : 1_000_000), to: "take")
      let after = new.isModifiedByOthers
      #expect(after)
      new.abandon()
      try? new.finish()
      #expect(folder.bytes(of: "take").allSatisfy { $0 == 7 })
    }
  }

  @Test(arguments: [FileFormat.wav, .rf64, .w64, .aiff, .caf, .flac, .ogg, .opus, .mp3])
  func `bytes that another program appends to a growing file are not read as audio`(
    format: FileFormat
  ) throws {
    let folder = TemporaryFolder()
    let sound = glide(frames: 48000, channels: 1)
    for name in ["alone", "disturbed"] {
      var new = try writer(folder(name), format)
      for _ in 0..<4 {
        try new.write(sound, frames: 48000)
        try new.refreshHeader()
        guard name == "disturbed" else { continue }
        let descriptor = open(folder(name), O_WRONLY | O_APPEND)
        let foreign = (0..<5000).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 >> 8) }
        #expect(Glibc.write(descriptor, foreign, foreign.count) == foreign.count)
        close(descriptor)
      }
      try new.finish()
    }
    #expect(try load(folder("disturbed")) == load(folder("alone")))
  }

  @Test(arguments: [FileFormat.wav, .rf64, .aiff, .caf, .flac, .ogg, .opus, .mp3])
  func `a file with tags of any length can be read`(format: FileFormat) throws {
    let lengths = [0, 1, 40, 601, 2999, 3000, 4095, 8001, 32768, 65536, 131_073, 1_048_576]
    for (index, length) in lengths.enumerated() {
      let folder = TemporaryFolder()
      let letter = ["x", "ä", "\u{1F600}", "x\n\0"][index % 4]
      let text = String(repeating: letter, count: length / letter.utf8.count)
      var tags = SoundFileTags()
      tags.title = text
      tags.artist = text
      tags.album = text
      tags.comment = text
      tags.date = text
      var new = try writer(folder("take"), format, tags: tags)
      try new.write(glide(frames: 24000, channels: 1), frames: 24000)
      try new.finish()
      #expect(try load(folder("take")).count >= 24000, "\(length)")
      let comment = try Decoding.decoder(forPath: folder("take")).tags.comment ?? ""
      let fitting = tags.fitting(format).comment ?? ""
      // Of an MP3 file's texts only the first 4000 bytes are read, possibly with a partial
      // character at the end.
      let isCut = format == .mp3 && fitting.utf8.count > 4000 && comment.utf8.count >= 4000
      #expect(isCut || comment.utf8.count == fitting.utf8.count, "\(length)")
    }
  }

  @Test(arguments: [true, false])
  func `a path that is a pipe, a broken link or a folder is refused as such`(overwrite: Bool) throws
  {
    let folder = TemporaryFolder()
    mkfifo(folder("pipe"), 0o600)
    symlink("nowhere", folder("link"))
    mkdir(folder("folder"), 0o700)
    for (name, words) in [
      ("pipe", "is a pipe or a device"), ("link", "is a link that leads nowhere"),
      ("folder", "is a folder"),
    ] {
      let trouble = failure {
        try TextFile.write("", to: folder(name), overwrite: overwrite)
      }
      #expect(trouble?.kind == .cannotCreate)
      #expect(trouble?.message.contains(words) == true)
    }
    let trouble = failure { _ = try TextFile.read(folder("folder")) }
    #expect(trouble?.message == "\(folder("folder")) is a folder, not a file.")
  }
}
