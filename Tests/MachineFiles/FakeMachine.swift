import Glibc
import LinuxSystem

/// A simulated machine, described by files in a temporary folder, which is removed with its owner.
package struct FakeMachine: ~Copyable {
  private let root: String

  /// Creates a machine without files.
  package init() {
    var name = Array("/tmp/duplex-machine-XXXXXX".utf8CString)
    mkdtemp(&name)
    root = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    _ = ProgramAnswer.asking(["rm", "-rf", root], milliseconds: 60_000)
  }

  /// Creates the file `path`; a text that begins with `-> ` makes it a link.
  package func write(_ text: String, to path: String) {
    let whole = root + path
    for slash in whole.indices.dropFirst() where whole[slash] == "/" {
      mkdir(String(whole[..<slash]), 0o700)
    }
    if text.hasPrefix("-> ") {
      symlink(String(text.dropFirst(3)), whole)
      return
    }
    let descriptor = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  /// Returns the files; those in `refused` may not be opened.
  package func files(refusing refused: Set<String> = []) -> SystemFiles {
    SystemFiles(root: root, refusing: refused)
  }
}
