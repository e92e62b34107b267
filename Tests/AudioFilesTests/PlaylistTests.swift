import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@Suite struct PlaylistTests {
  let folder = TemporaryFolder()

  @Test func `an M3U has one file per line, and comments are ignored`() throws {
    let path = folder("list.m3u8")
    try TextFile.write(
      "\u{FEFF}#EXTM3U\r\n#EXTINF:1,One\r\none.wav\r\n\r\n  sub/two ü.flac  \n/abs/three.ogg\n"
        + "http://host/four.mp3\n", to: path)
    #expect(Playlist.isPlaylist(path))
    #expect(
      try Array(Playlist.entries(of: path)) == [
        folder("one.wav"), folder("sub/two ü.flac"), "/abs/three.ogg", "http://host/four.mp3",
      ])
  }

  @Test
  func `paths with backslashes are converted unless a file has that name`()
    throws
  {
    for name in ["sub/one.wav", "two\\b.wav"] {
      try TextFile.write("", to: folder(name), makingFolders: true)
    }
    let path = folder("windows.m3u")
    try TextFile.write("sub\\one.wav\ntwo\\b.wav\nC:\\three.wav\n", to: path)
    #expect(
      try Array(Playlist.entries(of: path)) == [
        folder("sub/one.wav"), folder("two\\b.wav"), folder("C:\\three.wav"),
      ])
  }

  @Test func `a PLS numbers its files`() throws {
    let path = folder("list.pls")
    try TextFile.write(
      "[playlist]\nFile2=b=c.wav\nTitle1=x\nfile1=a.wav\nNumberOfEntries=2\nVersion=2\n", to: path)
    #expect(try Array(Playlist.entries(of: path)) == [folder("a.wav"), folder("b=c.wav")])
  }

  @Test func `a PLS may have blanks around its keys and names`() throws {
    let path = folder("blanks.pls")
    try TextFile.write("[playlist]\nFile1 = a.wav \n file2=\tb c.wav\nFile3 =\n", to: path)
    #expect(try Array(Playlist.entries(of: path)) == [folder("a.wav"), folder("b c.wav")])
  }

  @Test func `a playlist without files is refused`() throws {
    let path = folder("empty.m3u")
    try TextFile.write("# nothing\n\n", to: path)
    #expect(throws: FileFailure.self) { try Playlist.entries(of: path) }
    #expect(throws: FileFailure.self) { try Playlist.entries(of: folder("none.m3u")) }
    #expect(!Playlist.isPlaylist("song.wav") && !Playlist.isPlaylist("m3u"))
  }

  @Test func `the sound files of a folder are sorted, followed by those of its subfolders`() throws
  {
    for name in ["b.wav", "a.FLAC", "notes.txt", ".hidden.wav", "in/z.ogg", "in/deep/c.mp3"] {
      try TextFile.write("", to: folder("music/" + name), makingFolders: true)
    }
    #expect(
      try Array(SoundFolder.files(in: folder("music"))) == [
        folder("music/a.FLAC"), folder("music/b.wav"), folder("music/in/z.ogg"),
        folder("music/in/deep/c.mp3"),
      ])
    #expect(
      try Array(SoundFolder.files(in: folder("music"), entersFolders: false)) == [
        folder("music/a.FLAC"), folder("music/b.wav"),
      ])
    for name in ["file:/x.wav", "http:/y.wav"] {
      try TextFile.write("", to: folder("odd/" + name), makingFolders: true)
    }
    #expect(
      try Array(SoundFolder.files(in: folder("odd"))) == [
        folder("odd/file:/x.wav"), folder("odd/http:/y.wav"),
      ])
    #expect(SoundFolder.isFolder(folder("music")) && !SoundFolder.isFolder(folder("music/b.wav")))
    #expect(throws: FileFailure.self) { try SoundFolder.files(in: folder("none")) }
  }

  @Test func `numbers in names are sorted by value, in files and folders`() throws {
    let names = [
      "1.wav", "2.wav", "10.wav", "take-2.wav", "take-02.wav", "take-11.wav", "take-11b.wav",
      "take-99999999999999999999999.wav", "take-100000000000000000000000.wav", "take-a.wav",
      "disc 2/1.wav", "disc 10/1.wav",
    ]
    for name in names.reversed() {
      try TextFile.write("", to: folder("numbers/" + name), makingFolders: true)
    }
    var found = try Array(SoundFolder.files(in: folder("numbers")))
    // Equal numbers with and without a leading zero are ordered by their bytes.
    found.swapAt(3, 4)
    #expect(found == names.map { folder("numbers/" + $0) })
  }

  @Test func `a folder to which links lead back is visited once`() throws {
    try TextFile.write("", to: folder("loop/in/a.wav"), makingFolders: true)
    let expected = try Array(SoundFolder.files(in: folder("loop")))
    #expect(expected == [folder("loop/in/a.wav")])
    symlink("..", folder("loop/in/up"))
    symlink("..", folder("loop/in/up2"))
    symlink(".", folder("loop/in/self"))
    #expect(try Array(SoundFolder.files(in: folder("loop"))) == expected)
  }

  @Test func `a folder of the kernel is entered only if it is named`() throws {
    let name = "/dev/shm/duplex-\(UInt64.random(in: 0 ... .max)).wav"
    try TextFile.write("", to: name)
    defer { unlink(name) }
    try TextFile.write("", to: folder("links/a.wav"), makingFolders: true)
    for system in ["proc", "sys", "dev"] { symlink("/" + system, folder("links/" + system)) }
    #expect(try Array(SoundFolder.files(in: folder("links"))) == [folder("links/a.wav")])
    #expect(try SoundFolder.files(in: "/dev").contains(name))
  }

  @Test(.enabled(if: getuid() != 0, "the superuser may read everything"))
  func `an unreadable subfolder is skipped and named`() throws {
    try TextFile.write("", to: folder("shut/a.wav"), makingFolders: true)
    try TextFile.write("", to: folder("shut/no/b.wav"), makingFolders: true)
    chmod(folder("shut/no"), 0)
    defer { chmod(folder("shut/no"), 0o700) }
    let files = try SoundFolder.files(in: folder("shut"))
    #expect(Array(files) == [folder("shut/a.wav")])
    #expect(files.unreadableFolders == [folder("shut/no")])
    let trouble = failure { _ = try SoundFolder.files(in: folder("shut/no")) }
    #expect(trouble?.kind == .permissionDenied)
    #expect(trouble?.message.contains(folder("shut/no")) == true)
  }

  @Test(arguments: [true, false])
  func `a playlist in UTF-16 is recognised by its byte order mark`(isLittle: Bool) throws {
    let bytes = "\u{FEFF}a ü.wav\r\nb.wav\r\n".utf16.flatMap { unit in
      isLittle ? [UInt8(unit & 255), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 255)]
    }
    let path = folder("wide.m3u")
    save(bytes, to: path)
    #expect(try Array(Playlist.entries(of: path)) == [folder("a ü.wav"), folder("b.wav")])
  }

  @Test func `a name with a NUL character is refused`() throws {
    let path = folder("nul.m3u")
    save([0, 10], to: path)
    let trouble = failure { _ = try Playlist.entries(of: path) }
    #expect(trouble?.kind == .unusableContents)
    #expect(trouble?.message.contains("NUL") == true)
  }

  @Test(arguments: ["m3u", "pls"])
  func `a playlist with more entries than the limit is refused`(kind: String) throws {
    let path = folder("long.\(kind)")
    func text(_ count: Int) -> [UInt8] {
      (kind == "pls" ? Array("[playlist]\n".utf8) : [])
        + (0..<count).flatMap { Array((kind == "pls" ? "File\($0)=a\n" : "a\n").utf8) }
    }
    save(text(Playlist.maximumEntries), to: path)
    #expect(try Playlist.entries(of: path).count == Playlist.maximumEntries)
    save(text(Playlist.maximumEntries + 1), to: path)
    let trouble = failure { _ = try Playlist.entries(of: path) }
    #expect(trouble?.message.hasSuffix("names more than \(Playlist.maximumEntries) files.") == true)
    save([UInt8](repeating: 10, count: 8 << 20 + 1), to: path)
    #expect(failure { _ = try Playlist.entries(of: path) }?.kind == .unusableContents)
  }

  @Test func `a folder lists all files of supported extensions, and no pipes`() throws {
    let names = ["a.voc", "b.au", "c.mp2", "d.wave", "e.bwf", "f.snd", "g.opus", "h.aifc"]
    for name in names + ["i.raw", "j.txt"] {
      try TextFile.write("", to: folder("kinds/" + name), makingFolders: true)
    }
    mkfifo(folder("kinds/pipe.wav"), 0o600)
    #expect(
      try Array(SoundFolder.files(in: folder("kinds"))) == names.map { folder("kinds/" + $0) })
    for name in names {
      #expect(Decoding.supports(format: String(name.dropFirst())), "\(name)")
    }
  }

  @Test func `an address of a local file is converted to a path`() throws {
    let path = folder("addresses.m3u")
    try TextFile.write("file:///music/a%20b%C3%BC.wav\nFile://localhost/c%zz.wav\n", to: path)
    #expect(try Array(Playlist.entries(of: path)) == ["/music/a bü.wav", "/c%zz.wav"])
    #expect(FileAddress.path(of: "file://elsewhere/a.wav") == nil)
    #expect(FileAddress.path(of: "file:///a%00.wav") == nil)
    #expect(FileAddress.path(of: "/a.wav") == nil)
    #expect(FileAddress.path(of: "file:/music/my%20a.wav") == "/music/my a.wav")
    #expect(FileAddress.path(of: "file:a.wav") == nil)
  }

  private func save(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = write(descriptor, bytes, bytes.count)
    close(descriptor)
  }
}
