import Glibc

/// A source whose bytes are all available and can be read at any offset.
protocol LocalBytes: ByteSource {}

extension LocalBytes {
  var isSeekable: Bool { true }
  var isInterrupted: Bool { false }
  func readyByteCount(at offset: Int) -> Int { max(0, (byteCount ?? 0) - offset) }
  func interrupt() {}
  func proceed() {}
}

/// A source of the bytes of a file on disk.
final class LocalFile: LocalBytes {
  private let descriptor: FileDescriptor
  /// The file offset at which the source begins. It is above 0 if another program has already read
  /// part of standard input.
  private let start: Int
  let name: String
  let byteCount: Int?

  /// Opens `path`, or standard input if `path` is `-`. Throws `.cannotOpen` or `.permissionDenied`.
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

  /// Opens the whole file of the descriptor `original` by duplicating it. The caller keeps
  /// `original`. `name` is used in messages.
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

/// A source of bytes in memory, which are read like those of a file.
final class BytesInMemory: LocalBytes {
  private let bytes: [UInt8]
  let name: String
  var byteCount: Int? { bytes.count }

  /// Creates a source from `bytes`, which are part of the file `name`.
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
