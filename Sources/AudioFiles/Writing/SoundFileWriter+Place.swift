import Glibc

/// Where a file is on its disk, and how much of it.
extension SoundFileWriter {
  /// Bytes in front of the first sample of a WAV or RF64 file.
  public static var headerByteCount: Int { WaveHeader.byteCount }

  /// Bytes it holds now; nil on a pipe.
  public var byteCount: Int? {
    var status = stat()
    guard fstat(sink.descriptor, &status) == 0, FileStatus(status).isRegular else { return nil }
    return Int(status.st_size)
  }

  /// Whether somebody deleted it: it goes on growing, but nobody will ever find it.
  public var isDeleted: Bool {
    var status = stat()
    return fstat(sink.descriptor, &status) == 0 && FileStatus(status).isRegular
      && status.st_nlink == 0
  }

  /// Gives a file that was deleted a name again, with all that it holds, and its folder, too.
  /// Throws `.cannotCreate`, `.permissionDenied` or `.diskFull` where that cannot be; a file of that
  /// name stays as it is.
  public mutating func restore(as path: String) throws(FileFailure) {
    do throws(SystemError) {
      try OutputFolder.make(for: path)
      let copy = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
      do throws(SystemError) {
        try Self.copy(from: sink.descriptor, to: copy.number)
        // The descriptor stays the one that the encoder knows.
        guard dup2(copy.number, sink.descriptor) >= 0 else { throw .last }
      } catch {
        unlink(path)
        throw error
      }
    } catch {
      throw .creating(path, error)
    }
    self.path = path
  }

  /// Copies all bytes, and leaves the copy where the original stands.
  private static func copy(from original: Int32, to copy: Int32) throws(SystemError) {
    let place = lseek(original, 0, SEEK_CUR)
    var offset = 0
    while true {
      let count = sendfile(copy, original, &offset, 1 << 24)
      if count == 0 { break }
      guard count > 0 || errno == EINTR else { throw .last }
    }
    guard place < 0 || lseek(copy, place, SEEK_SET) >= 0 else { throw .last }
  }
}
