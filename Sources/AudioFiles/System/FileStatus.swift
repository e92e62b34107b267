import Glibc

/// The kind and size of a file.
package struct FileStatus {
  let isFolder: Bool
  let isRegular: Bool
  /// Whether the contents can be read only once.
  let isPipe: Bool
  /// Whether it is a socket.
  let isSocket: Bool
  /// Whether it has no name any more, such as the removed working folder of a program.
  let isRemoved: Bool
  package let byteCount: Int

  init(_ status: stat) {
    let type = status.st_mode & S_IFMT
    isPipe = type == S_IFIFO || type == S_IFSOCK
    isSocket = type == S_IFSOCK
    isRemoved = status.st_nlink == 0
    isFolder = type == S_IFDIR
    isRegular = type == S_IFREG
    byteCount = min(max(0, Int(status.st_size)), FileBounds.byteCount)
  }

  /// Reads the status of `path`; nil if there is no such file.
  package init?(of path: String) {
    guard let status = try? FileSystem.status(of: path) else { return nil }
    self.init(status)
  }

  /// Returns whether `path` is a file, a folder or a link, even one to a missing file.
  package static func isTaken(_ path: String) -> Bool { FileSystem.isTaken(path) }
}
