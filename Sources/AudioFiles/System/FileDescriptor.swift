import CLinuxFiles
import Glibc

/// An open file descriptor, which is closed when it goes out of scope.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes ownership of an open descriptor.
  init(owning number: Int32) {
    self.number = number
  }

  /// Opens `path`; a file that this creates has the usual permissions.
  init(opening path: String, _ flags: Int32) throws(SystemError) {
    number = try FileSystem.open(path, flags)
  }

  /// Opens the file on disk at `path` for reading and waits for nothing else: throws `EISDIR` for a
  /// folder, and `ESPIPE` for a pipe, a socket or a device.
  static func file(at path: String) throws(SystemError) -> FileDescriptor {
    let opened = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
    let status = try opened.status
    if status.isFolder { throw SystemError(number: EISDIR) }
    if !status.isRegular { throw SystemError(number: ESPIPE) }
    return opened
  }

  /// Duplicates `original`, which remains with its owner.
  init(duplicating original: Int32) throws(SystemError) {
    let copy = fcntl(original, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .last }
    number = copy
  }

  /// Makes `descriptor`, which remains with its owner, refer to the open file `target` in place of
  /// its own.
  static func redirect(_ descriptor: Int32, to target: Int32) throws(SystemError) {
    guard linux_redirect(descriptor, target) else { throw .last }
  }

  /// Returns whether so many files are open, in this program or on the machine, that `count` more
  /// cannot be opened. For libraries that do not report why they could open nothing.
  static func areExhausted(for count: Int) -> Bool {
    guard count > 0 else { return false }
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return SystemError.last.isDescriptorLimit }
    let opened = FileDescriptor(owning: number)
    let areExhausted = areExhausted(for: count - 1)
    _ = consume opened
    return areExhausted
  }

  deinit {
    _ = Glibc.close(number)
  }

  /// Transfers the descriptor to a new owner.
  consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }

  /// The kind of the file, and its size.
  var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .last }
      return FileStatus(status)
    }
  }

  /// The offset of the next read or write; nil for a pipe.
  var position: Int? {
    let position = lseek(number, 0, SEEK_CUR)
    return position >= 0 ? position : nil
  }

  /// Sets the offset of the next read or write in a seekable file.
  func seek(to position: Int) throws(SystemError) {
    guard lseek(number, position, SEEK_SET) >= 0 else { throw .last }
  }

  /// Reads bytes at the offset `offset` into `bytes` with one call; returns their number, 0 at the
  /// end.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try Self.read(into: bytes, at: offset, of: number)
  }

  /// Returns the `count` bytes from `offset` on, or as many as there are.
  func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try Self.bytes(at: offset, count: count, of: number)
  }

  /// Returns bytes in the same way from a descriptor that has another owner.
  static func bytes(
    at offset: Int, count: Int, of descriptor: Int32
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try bytes.withUnsafeMutableBufferPointer { memory throws(SystemError) in
      let memory = UnsafeMutableRawBufferPointer(memory)
      var done = 0
      while done < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
        let got = try read(into: rest, at: offset + done, of: descriptor)
        if got == 0 { break }
        done += got
      }
      return done
    }
    bytes.removeLast(count - done)
    return bytes
  }

  private static func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int, of descriptor: Int32
  ) throws(SystemError) -> Int {
    while true {
      let count = pread(descriptor, bytes.baseAddress, bytes.count, offset)
      if count >= 0 { return count }
      guard errno == EINTR else { throw .last }
    }
  }

  /// Locks the file against other programs that lock files before writing, as long as the
  /// descriptor or a duplicate is open. Throws `EWOULDBLOCK` if another program has the lock; does
  /// nothing if files cannot be locked.
  func lock() throws(SystemError) {
    guard flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw .last }
  }

  /// Sets the size of the file, shorter or longer.
  func truncate(to byteCount: Int) throws(SystemError) {
    guard ftruncate(number, byteCount) == 0 else { throw .last }
  }
}
