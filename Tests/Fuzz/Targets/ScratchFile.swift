import Glibc

/// A file in memory that holds one input at a time and is removed at the end of the process.
final class ScratchFile: Sendable {
  static let sound = ScratchFile("sound")
  static let repaired = ScratchFile("mended")
  static let list = ScratchFile("list.m3u")
  static let settings = ScratchFile("settings.json")
  static let configuration = ScratchFile("duplex/config.toml")

  let path: String

  init(_ name: String) {
    path = Self.folder + "/" + name
  }

  static let folder: String = {
    var name = Array("/dev/shm/duplex-fuzz-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { finding("there is no /dev/shm") }
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    mkdir(path + "/duplex", 0o700)
    atexit { ScratchFile.clear() }
    return path
  }()

  private static func clear() {
    for name in ["sound", "mended", "list.m3u", "list.pls", "settings.json", "duplex/config.toml"] {
      unlink("\(folder)/\(name)")
    }
    rmdir(folder + "/duplex")
    rmdir(folder)
  }

  /// Runs `body` with the path of a file that contains `bytes`.
  func with(_ bytes: [UInt8], _ body: (String) -> Void) {
    hold(bytes)
    body(path)
    unlink(path)
  }

  func hold(_ bytes: [UInt8]) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0, write(file, bytes, bytes.count) == bytes.count else {
      finding("\(path) cannot be written")
    }
    close(file)
  }

  /// The current contents of the file.
  var bytes: [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: lseek(file, 0, SEEK_END))
    _ = pread(file, &bytes, bytes.count, 0)
    return bytes
  }
}
