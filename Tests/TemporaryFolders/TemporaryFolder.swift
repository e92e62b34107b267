import Glibc

/// A folder for the files of a test, removed with all its contents when its last owner is gone.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    var name = Array("/tmp/duplex-test-XXXXXX".utf8CString)
    mkdtemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// Returns the path of the file `name` in the folder.
  package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of the files in the folder, sorted.
  package var names: [String] { Self.names(in: path) }

  package func write(_ bytes: [UInt8], to name: String) {
    let descriptor = open(self(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  package func bytes(of name: String) -> [UInt8] {
    let descriptor = open(self(name), O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
    _ = pread(descriptor, &bytes, bytes.count, 0)
    return bytes
  }

  /// Removes a file or a folder with all its contents, without following links.
  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
