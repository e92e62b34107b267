import Glibc

/// Bytes on their way to a descriptor.
enum OutputBytes {
  /// Writes `count` bytes where the descriptor stands; says how many could be, and why no more.
  static func write(
    _ bytes: UnsafeRawPointer, count: Int, to descriptor: Int32
  ) -> (done: Int, error: SystemError?) {
    var done = 0
    while done < count {
      let written = Glibc.write(descriptor, bytes + done, count - done)
      if written >= 0 {
        done += written
      } else if errno != EINTR {
        return (done, .last)
      }
    }
    return (done, nil)
  }

  /// Overwrites what stands at `offset`; whether that was possible. The descriptor stays where it is.
  static func overwrite(_ bytes: [UInt8], at offset: Int, in descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { memory in
        pwrite(descriptor, memory.baseAddress.map { $0 + done }, memory.count - done, offset + done)
      }
      if written >= 0 { done += written } else if errno != EINTR { return false }
    }
    return true
  }

  /// Cuts off what is of no use to anybody, and goes on there.
  static func cut(_ descriptor: Int32, at offset: Int) {
    _ = ftruncate(descriptor, offset)
    _ = lseek(descriptor, offset, SEEK_SET)
  }

  /// Waits until all is on the disk. A pipe has nothing to wait for.
  static func synchronize(_ descriptor: Int32) throws(SystemError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw .last }
  }
}
