import Glibc
import LinuxSystem
import TemporaryFolders

/// A simulated machine, described by files in a temporary folder, which is removed with its owner.
package struct FakeMachine {
  private let folder = TemporaryFolder()

  /// Creates a machine without files.
  package init() {}

  /// Creates the file `path`; a text that begins with `-> ` makes it a link.
  package func write(_ text: String, to path: String) {
    let whole = folder.path + path
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
    SystemFiles(root: folder.path, refusing: refused)
  }
}
