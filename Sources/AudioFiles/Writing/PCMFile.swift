import Glibc

/// A WAV, RF64 or raw file being written, which we lay out ourselves: one `write` puts samples
/// down, and one `pwrite` makes the header true, so that the file is whole at every instant.
///
/// On a pipe the header says that the length is unknown.
struct PCMFile: ~Copyable {
  private let descriptor: Int32
  private let header: WaveHeader?
  private let frameByteCount: Int
  /// Where in the file our first byte is; -1 where nothing can be gone back to.
  private let start: Int
  /// Bytes of whole frames behind the header.
  private(set) var dataByteCount = 0

  /// Begins at the place where `descriptor` stands; without a `header` the file is raw.
  init(
    _ descriptor: consuming FileDescriptor, header: WaveHeader?, frameByteCount: Int
  ) throws(SystemError) {
    let status = try descriptor.status
    // Appending makes every write, even one to the header, go to the end.
    let isAppending = fcntl(descriptor.number, F_GETFL) & O_APPEND != 0
    let isRewritable = status.isRegular && !isAppending
    let start = isRewritable ? descriptor.position ?? -1 : -1
    if let header {
      let bytes = header.bytes(dataByteCount: start >= 0 ? 0 : nil)
      let result = Self.writeAll(descriptor.number, bytes, count: bytes.count)
      if let error = result.error { throw error }
    }
    self.start = start
    self.header = header
    self.frameByteCount = frameByteCount
    self.descriptor = descriptor.release()
  }

  deinit {
    // Left without a farewell: still a readable file.
    _ = rewriteHeader(isLast: true)
    _ = Glibc.close(descriptor)
  }

  /// Frames written.
  var frameCount: Int { dataByteCount / frameByteCount }

  /// Appends whole frames. When it throws, those that still fitted are in the file, and counted.
  mutating func append(_ bytes: UnsafeRawPointer, count: Int) throws(SystemError) {
    let (done, error) = Self.writeAll(descriptor, bytes, count: count)
    dataByteCount += done - done % frameByteCount
    guard let error else { return }
    if start >= 0 {
      // Part of a frame is no use to anybody.
      let end = start + (header?.byteCount ?? 0) + dataByteCount
      _ = ftruncate(descriptor, end)
      _ = lseek(descriptor, end, SEEK_SET)
    }
    throw error
  }

  /// Makes the header say what is there.
  func refreshHeader() throws(SystemError) {
    guard rewriteHeader(isLast: false) else { throw .last }
  }

  /// Waits until all is on the disk. A pipe has nothing to wait for.
  func synchronize() throws(SystemError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw .last }
  }

  /// Completes and closes the file.
  consuming func close() throws(SystemError) {
    let isWhole = rewriteHeader(isLast: true)
    let number = errno
    let isClosed = Glibc.close(descriptor) == 0
    let closeNumber = errno
    discard self
    if !isWhole { throw SystemError(number: number) }
    if !isClosed { throw SystemError(number: closeNumber) }
  }

  private func rewriteHeader(isLast: Bool) -> Bool {
    guard let header, start >= 0 else { return true }
    let bytes = header.bytes(dataByteCount: dataByteCount)
    if isLast, dataByteCount % 2 == 1 {
      // A chunk of odd length is followed by a byte that does not count.
      var padding: UInt8 = 0
      _ = pwrite(descriptor, &padding, 1, start + header.byteCount + dataByteCount)
    }
    return pwrite(descriptor, bytes, bytes.count, start) == bytes.count
  }

  private static func writeAll(
    _ descriptor: Int32, _ bytes: UnsafeRawPointer, count: Int
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
}
