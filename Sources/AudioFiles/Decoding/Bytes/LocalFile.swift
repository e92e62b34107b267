import Glibc

/// The bytes of a file on disk. Nothing waits.
final class LocalFile: ByteSource {
  private let descriptor: FileDescriptor
  let name: String
  let byteCount: Int?
  var isSeekable: Bool { byteCount != nil }
  var bytesPerSecond: Double? { nil }
  var isInterrupted: Bool { false }
  var announcedTitle: String? { nil }
  var contentType: String? { nil }
  var announcedBitRate: Int? { nil }

  /// Opens `path`. Throws `.cannotOpen` or `.permissionDenied`.
  init(path: String) throws(FileFailure) {
    let opened = try Self.open(path)
    let count = Self.byteCount(of: opened)
    descriptor = opened
    name = path
    byteCount = count
  }

  private static func open(_ path: String) throws(FileFailure) -> FileDescriptor {
    if FileStatus(of: path)?.isFolder == true { throw .isFolder(path) }
    do throws(SystemError) {
      return try FileDescriptor(opening: path, O_RDONLY)
    } catch {
      throw .opening(path, error)
    }
  }

  /// nil for a pipe.
  private static func byteCount(of descriptor: borrowing FileDescriptor) -> Int? {
    guard let status = try? descriptor.status, status.isRegular else { return nil }
    return status.byteCount
  }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    while true {
      let count = pread(descriptor.number, bytes.baseAddress, bytes.count, offset)
      if count >= 0 { return count }
      guard errno == EINTR else { throw .reading(name, .last) }
    }
  }

  func readyByteCount(at offset: Int) -> Int {
    max(0, (byteCount ?? 0) - offset)
  }

  func interrupt() {}
  func proceed() {}
}
