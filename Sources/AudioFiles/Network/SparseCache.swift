import CLinuxFiles
import Glibc

/// The stored bytes of a remote file, in a sparse file without a name, which is deleted when the
/// process ends for any reason. Missing bytes are holes in the file.
final class SparseCache {
  private let file: FileDescriptor
  private(set) var present = ByteRanges()

  /// Creates the cache in the first default folder in which this is possible. Throws
  /// `.cannotCreate`.
  convenience init() throws(FileFailure) {
    try self.init(folders: Self.folders)
  }

  /// Creates the cache in the first of `folders` in which this is possible. Throws `.cannotCreate`.
  init(folders: [String]) throws(FileFailure) {
    var opened: Int32 = -1
    for folder in folders where opened < 0 { opened = Self.open(in: folder) }
    guard opened >= 0 else {
      throw FileFailure(
        .cannotCreate, "No cache can be made in \(folders.joined(separator: " or ")).",
        hint: "Make one of these folders writable, or name another in XDG_CACHE_HOME.")
    }
    file = FileDescriptor(owning: opened)
  }

  /// The disk space in use, in bytes.
  var occupiedByteCount: Int {
    var status = stat()
    // The unit of `st_blocks` is 512 bytes, independent of the block size.
    return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Stores `bytes` at `offset` and returns the number of bytes that were missing before.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try OutputBytes.write(bytes, at: offset, to: file.number)
    return present.insert(offset..<offset + bytes.count)
  }

  /// Fills `bytes` with the stored bytes from `offset` on, and returns their number.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    let ready = min(bytes.count, present.firstGap(from: offset) - offset)
    guard ready > 0 else { return 0 }
    let count = try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<ready]), at: offset)
    // The set contains these bytes, so an end of the file here is an error.
    guard count > 0 else { throw SystemError(number: EIO) }
    return count
  }

  /// Discards whole blocks until about `bound` bytes are left: first the blocks farthest before
  /// `reader`, then those farthest after it.
  func shrink(to bound: Int, reader: Int) {
    while present.byteCount > bound,
      let range = partBehind(reader, present.byteCount - bound)
        ?? partAhead(of: reader, present.byteCount - bound)
    {
      discard(range)
    }
  }

  /// Returns the range farthest before `reader`, of about `count` bytes; nil if there is none.
  private func partBehind(_ reader: Int, _ count: Int) -> Range<Int>? {
    guard let first = present.ranges.first, first.lowerBound < reader else { return nil }
    let enough = (first.lowerBound + count + Self.block - 1) / Self.block * Self.block
    var end = min(first.upperBound, reader, enough)
    if end < first.upperBound { end = end / Self.block * Self.block }
    return end > first.lowerBound ? first.lowerBound..<end : nil
  }

  /// Returns the range farthest after `reader`, of about `count` bytes; nil if there is none.
  private func partAhead(of reader: Int, _ count: Int) -> Range<Int>? {
    guard let last = present.ranges.last else { return nil }
    var start = max(last.lowerBound, reader, last.upperBound - count)
    if start > last.lowerBound { start = (start + Self.block - 1) / Self.block * Self.block }
    return start < last.upperBound ? start..<last.upperBound : nil
  }

  private static let block = 4096

  /// Removes `range` from the set, and frees its blocks that contain no remaining bytes.
  private func discard(_ range: Range<Int>) {
    present.remove(range)
    let before = range.lowerBound / Self.block * Self.block
    let behind = (range.upperBound + Self.block - 1) / Self.block * Self.block
    let lower = isEmpty(before..<range.lowerBound) ? before : range.lowerBound
    let upper = isEmpty(range.upperBound..<behind) ? behind : range.upperBound
    _ = linux_punch_hole(file.number, Int64(lower), Int64(upper - lower))
  }

  private func isEmpty(_ range: Range<Int>) -> Bool {
    !present.ranges.contains { $0.overlaps(range) }
  }

  private static var folders: [String] {
    var folders: [String] = []
    if let cache = variable("XDG_CACHE_HOME") {
      folders.append("\(cache)/duplex")
    } else if let home = variable("HOME") {
      folders.append("\(home)/.cache/duplex")
    }
    return folders + ["/tmp"]
  }

  /// Returns the value of an environment variable if it is an absolute path; otherwise nil.
  private static func variable(_ name: String) -> String? {
    FileName.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func open(in folder: String) -> Int32 {
    try? FileSystem.makeFolders(of: folder + "/")
    if let unnamed = try? FileSystem.openUnnamed(in: folder, mode: 0o600) { return unnamed }
    // Some file systems do not support files without a name.
    let path = "\(folder)/remote-\(UInt64.random(in: 0 ... .max))"
    guard
      let named = try? FileSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    else { return -1 }
    try? FileSystem.remove(path)
    return named
  }
}
