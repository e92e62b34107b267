import Glibc

/// The bytes of a file on disk. Nothing waits.
final class LocalFile: ByteSource {
  private let descriptor: FileDescriptor
  let name: String
  let byteCount: Int?
  var isSeekable: Bool { true }
  var bytesPerSecond: Double? { nil }
  var isInterrupted: Bool { false }
  var announcedTitle: String? { nil }
  var contentType: String? { nil }
  var announcedBitRate: Int? { nil }

  /// Opens `path`. Throws `.cannotOpen` or `.permissionDenied`.
  init(path: String) throws(FileFailure) {
    do throws(SystemError) {
      let opened = try FileDescriptor.file(at: path)
      byteCount = try opened.status.byteCount
      descriptor = opened
    } catch {
      throw .opening(path, error)
    }
    name = path
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
