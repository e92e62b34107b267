import Glibc

/// An output file just created, or opened to be overwritten, and still empty.
struct OutputFile: ~Copyable {
  let descriptor: FileDescriptor
  /// Whether it was created here, and goes again should nothing become of it.
  let isNew: Bool
  /// Whether it is a file one can go back in, and no pipe or device.
  let isRegular: Bool

  /// Creates `path`. Without `overwrite`, a file of that name is refused: in one step, so that two
  /// recorders never share one. Pipes and devices may always be written to.
  init(creating path: String, overwrite: Bool) throws(SystemError) {
    let found = FileStatus(of: path)
    if found?.isFolder == true { throw SystemError(number: EISDIR) }
    // A pipe or a device is there already, and is used as it is.
    let isReused = found.map { overwrite || !$0.isRegular } ?? false
    let mode = found?.isRegular ?? true ? O_RDWR : O_WRONLY
    let opened = try Self.open(path, isReused ? mode : mode | O_CREAT | O_EXCL)
    let isRegular = try opened.status.isRegular
    if isReused, isRegular { try opened.truncate(to: 0) }
    descriptor = opened
    isNew = !isReused
    self.isRegular = isRegular
  }

  /// Opens `path`. A pipe that nobody reads is waited for a little, not for ever.
  private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> FileDescriptor {
    var attempts = 0
    while true {
      do throws(SystemError) {
        let opened = try FileDescriptor(opening: path, flags | O_NONBLOCK)
        _ = fcntl(opened.number, F_SETFL, fcntl(opened.number, F_GETFL) & ~O_NONBLOCK)
        return opened
      } catch {
        attempts += 1
        guard error.number == ENXIO, attempts < 60 else { throw error }
        usleep(50_000)
      }
    }
  }

  consuming func takeDescriptor() -> FileDescriptor { descriptor }
}
