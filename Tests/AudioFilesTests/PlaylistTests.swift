import AudioFiles
import Glibc
import Testing

@Suite struct PlaylistTests {
  let folder = TemporaryFolderBox()

  @Test func `an M3U names a file a line, comments left out`() throws {
    let path = folder("list.m3u8")
    try TextFile.write(
      "\u{FEFF}#EXTM3U\r\n#EXTINF:1,One\r\none.wav\r\n\r\n  sub/two ü.flac  \n/abs/three.ogg\n"
        + "http://host/four.mp3\n", to: path)
    #expect(Playlist.isPlaylist(path))
    #expect(
      try Playlist.entries(of: path) == [
        folder("one.wav"), folder("sub/two ü.flac"), "/abs/three.ogg", "http://host/four.mp3",
      ])
  }

  @Test func `a PLS names files by number`() throws {
    let path = folder("list.pls")
    try TextFile.write(
      "[playlist]\nFile2=b=c.wav\nTitle1=x\nfile1=a.wav\nNumberOfEntries=2\nVersion=2\n", to: path)
    #expect(try Playlist.entries(of: path) == [folder("a.wav"), folder("b=c.wav")])
  }

  @Test func `a playlist that names nothing is refused`() throws {
    let path = folder("empty.m3u")
    try TextFile.write("# nothing\n\n", to: path)
    #expect(throws: FileFailure.self) { try Playlist.entries(of: path) }
    #expect(throws: FileFailure.self) { try Playlist.entries(of: folder("none.m3u")) }
    #expect(!Playlist.isPlaylist("song.wav") && !Playlist.isPlaylist("m3u"))
  }

  @Test func `a folder's sound files come in order, those within after it`() throws {
    for name in ["b.wav", "a.FLAC", "notes.txt", ".hidden.wav", "in/z.ogg", "in/deep/c.mp3"] {
      try TextFile.write("", to: folder("music/" + name), makingFolders: true)
    }
    #expect(
      try SoundFolder.files(in: folder("music")) == [
        folder("music/a.FLAC"), folder("music/b.wav"), folder("music/in/z.ogg"),
        folder("music/in/deep/c.mp3"),
      ])
    #expect(SoundFolder.isFolder(folder("music")) && !SoundFolder.isFolder(folder("music/b.wav")))
    #expect(throws: FileFailure.self) { try SoundFolder.files(in: folder("none")) }
    // A folder that leads back to itself ends as well.
    symlink(folder("music"), folder("music/in/again"))
    #expect(try SoundFolder.files(in: folder("music")).count > 4)
  }
}

/// A folder with folders in it, gone with its suite.
final class TemporaryFolderBox: Sendable {
  private let path: String

  init() {
    var name = Array("/tmp/duplex-lists-XXXXXX".utf8CString)
    mkdtemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // Deepest first; unlink leaves folders, rmdir leaves files.
    for name in ["music/in/deep", "music/in", "music", ""] {
      for file in ["c.mp3", "z.ogg", "again", "b.wav", "a.FLAC", "notes.txt", ".hidden.wav"] {
        unlink("\(path)/\(name)/\(file)")
      }
      for file in ["list.m3u8", "list.pls", "empty.m3u"] { unlink("\(path)/\(file)") }
      rmdir("\(path)/\(name)")
    }
  }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}
