import Glibc

/// The identity of a file: its device and inode number, the same for all its names.
public struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  init(_ status: stat) {
    device = UInt(status.st_dev)
    number = UInt(status.st_ino)
  }

  init(_ file: borrowing FileDescriptor) throws(SystemError) {
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// Reads the identity of the file at `path`, following links; nil if there is none.
  public init?(of path: String) {
    guard let status = try? FileSystem.status(of: path) else { return nil }
    self.init(status)
  }

  /// Reads the identity of the pipe or socket at `path`, or of standard input if `path` is `-`.
  /// Data from a pipe can be read only once. nil if it is not a pipe or socket.
  package init?(ofPipe path: String) {
    var status = stat()
    if path == StandardInput.path {
      guard fstat(STDIN_FILENO, &status) == 0 else { return nil }
    } else {
      guard let found = try? FileSystem.status(of: path) else { return nil }
      status = found
    }
    guard FileStatus(status).isPipe else { return nil }
    self.init(status)
  }
}
