import Glibc

/// Writes to a descriptor, and reads of the bytes already written.
enum OutputBytes {
  /// Writes `count` bytes at the descriptor's offset; returns the number of bytes written, and the
  /// error if not all were.
  static func write(
    _ bytes: UnsafeRawPointer, count: Int, to descriptor: Int32
  ) -> (done: Int, error: SystemError?) {
    var done = 0
    while done < count {
      let written = Glibc.write(descriptor, bytes + done, count - done)
      guard written != 0 else { return (done, SystemError(number: EIO)) }
      if written > 0 { done += written } else if errno != EINTR { return (done, .last) }
    }
    return (done, nil)
  }

  /// Writes `bytes` at the offset `offset`. The descriptor's offset does not change.
  static func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, to descriptor: Int32
  ) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let written = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
      guard written != 0 else { throw SystemError(number: EIO) }
      if written > 0 { done += written } else if errno != EINTR { throw .last }
    }
  }

  /// Writes an array in the same way.
  static func write(
    _ bytes: [UInt8], at offset: Int, to descriptor: Int32
  ) throws(SystemError) {
    try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
      try write(UnsafeRawBufferPointer(bytes), at: offset, to: descriptor)
    }
  }

  /// Returns the `count` bytes of an output from `offset` on, or as many as there are; none if they
  /// cannot be read.
  static func bytes(at offset: Int, count: Int, of descriptor: Int32) -> [UInt8] {
    (try? FileDescriptor.bytes(at: offset, count: count, of: descriptor)) ?? []
  }

  /// Cuts off a useless end at `offset` and sets the descriptor's offset to it.
  static func cut(_ descriptor: Int32, at offset: Int) {
    _ = ftruncate(descriptor, offset)
    _ = lseek(descriptor, offset, SEEK_SET)
  }

  /// Waits until all data is on the disk. For a pipe this does nothing.
  static func synchronize(_ descriptor: Int32) throws(SystemError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw .last }
  }
}
