/// A file to be repaired, read at any offset through one buffer in memory. One thread at a time.
final class DamagedFile: RandomAccessBytes {
  let path: String
  let byteCount: Int
  private let descriptor: FileDescriptor
  private var window: [UInt8] = []
  private var windowStart = 0
  private static let windowByteCount = 262_144
  /// The number of bytes requested so far, a measure of the work of a repair.
  private(set) var requestedByteCount = 0

  /// Opens the file at `path`. Throws `.cannotOpen`, `.permissionDenied` or `.unusableContents`.
  init(_ path: String) throws(FileFailure) {
    do throws(SystemError) {
      let opened = try FileDescriptor.file(at: path)
      byteCount = try opened.status.byteCount
      descriptor = opened
    } catch {
      throw .opening(path, error)
    }
    self.path = path
  }

  /// Returns the byte at `offset`, which must be within the file.
  @inline(__always) func byte(at offset: Int) throws(FileFailure) -> UInt8 {
    requestedByteCount &+= 1
    let index = offset - windowStart
    if index >= 0, index < window.count { return window[index] }
    return try fetch(offset)
  }

  /// Returns the `count` bytes from `offset` on, or as many as the file has.
  func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
    guard offset >= 0, offset < byteCount, count > 0 else { return [] }
    let count = min(count, byteCount - offset)
    requestedByteCount &+= count
    if offset < windowStart || offset + count > windowStart + window.count {
      if count > Self.windowByteCount { return try load(offset, count) }
      _ = try fetch(offset)
    }
    let index = offset - windowStart
    return Array(window[index..<min(index + count, window.count)])
  }

  /// Returns the number of zero bytes at the beginning of the file, at most `limit`.
  func leadingZeros(atMost limit: Int = .max) throws(FileFailure) -> Int {
    var count = 0
    while count < min(byteCount, limit), try byte(at: count) == 0 { count += 1 }
    return count
  }

  private func fetch(_ offset: Int) throws(FileFailure) -> UInt8 {
    // A few bytes before the offset are kept, because a search also reads backwards.
    let start = max(0, offset - 256)
    window = try load(start, Self.windowByteCount + 256)
    windowStart = start
    return window[offset - start]
  }

  /// Returns the `count` bytes from `start` on, or all that the file had when it was opened.
  private func load(_ start: Int, _ count: Int) throws(FileFailure) -> [UInt8] {
    let count = min(count, byteCount - start)
    let bytes = try mapSystemError(try descriptor.bytes(at: start, count: count)) {
      .reading(path, $0)
    }
    guard bytes.count == count else {
      throw FileFailure(
        .readFailed, "\(path) became shorter while it was read.",
        hint: "Wait until no program writes to it any more.")
    }
    return bytes
  }
}
