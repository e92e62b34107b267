import Glibc

/// Bytes that are all there, and can be had from any place.
protocol PresentBytes: ByteSource {}

extension PresentBytes {
  var isSeekable: Bool { true }
  var isInterrupted: Bool { false }
  func readyByteCount(at offset: Int) -> Int { max(0, (byteCount ?? 0) - offset) }
  func interrupt() {}
  func proceed() {}
}

/// The bytes of a file on disk.
final class LocalFile: PresentBytes {
  private let descriptor: FileDescriptor
  /// Where in the file the bytes begin: standard input may have been read by others before.
  private let start: Int
  let name: String
  let byteCount: Int?

  /// Opens `path`; standard input where it is `-`. Throws `.cannotOpen` or `.permissionDenied`.
  init(path: String) throws(FileFailure) {
    let isStandardInput = path == StandardInput.path
    name = isStandardInput ? StandardInput.name : path
    do throws(SystemError) {
      let opened =
        isStandardInput
        ? try FileDescriptor(duplicating: STDIN_FILENO) : try FileDescriptor.file(at: path)
      let status = try opened.status
      if status.isFolder { throw SystemError(number: EISDIR) }
      start = opened.position ?? 0
      byteCount = max(0, status.byteCount - start)
      descriptor = opened
    } catch {
      throw isStandardInput && error.number == EBADF ? .closedInput : .opening(name, error)
    }
  }

  /// All of the file behind `original`, which stays with its owner, called `name`.
  init(duplicating original: Int32, name: String) throws(SystemError) {
    let copy = try FileDescriptor(duplicating: original)
    start = 0
    byteCount = try copy.status.byteCount
    descriptor = copy
    self.name = name
  }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    try mapSystemError(try descriptor.read(into: bytes, at: start + offset)) { .reading(name, $0) }
  }
}

/// Bytes that are there already, read as those of a file are.
final class BytesInMemory: PresentBytes {
  private let bytes: [UInt8]
  let name: String
  var byteCount: Int? { bytes.count }

  /// `bytes`, which are part of the file `name`.
  init(_ bytes: [UInt8], of name: String) {
    self.bytes = bytes
    self.name = name
  }

  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileFailure) -> Int {
    let part = bytes.dropFirst(max(0, offset)).prefix(target.count)
    target.copyBytes(from: part)
    return part.count
  }
}
