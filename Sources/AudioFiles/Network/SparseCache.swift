import CLinuxFiles
import Glibc

/// The bytes of a remote file that are here: a file without a name, which goes with the process
/// however that ends, with holes where bytes are not.
final class SparseCache {
  private let file: FileDescriptor
  private(set) var present = ByteRanges()

  /// In the first of the usual folders that takes it. Throws `.cannotCreate`.
  convenience init() throws(FileFailure) {
    try self.init(folders: Self.folders)
  }

  /// In the first of `folders` that takes it. Throws `.cannotCreate`.
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

  /// Bytes that it takes up on its disk.
  var occupiedByteCount: Int {
    var status = stat()
    // Blocks are counted in units of 512 bytes, whatever their size is.
    return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Keeps `bytes` from `offset` on and returns how many of them were not there.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    var done = 0
    while done < bytes.count {
      let count = pwrite(file.number, start + done, bytes.count - done, offset + done)
      if count > 0 { done += count } else if errno != EINTR { throw .last }
    }
    return present.insert(offset..<offset + bytes.count)
  }

  /// Fills `bytes` as far as what begins at `offset` is here, and returns how many.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    let ready = min(bytes.count, present.firstGap(from: offset) - offset)
    guard ready > 0, let start = bytes.baseAddress else { return 0 }
    while true {
      let count = pread(file.number, start, ready, offset)
      if count > 0 { return count }
      // The set says the bytes are there, so an end is damage.
      if count == 0 { throw SystemError(number: EIO) }
      if errno != EINTR { throw .last }
    }
  }

  /// Gives up whole blocks until about `bound` bytes are left: those farthest behind `reader` first,
  /// then those farthest ahead of it.
  func shrink(to bound: Int, reader: Int) {
    while present.byteCount > bound,
      let range = partBehind(reader, present.byteCount - bound)
        ?? partAhead(of: reader, present.byteCount - bound)
    {
      discard(range)
    }
  }

  /// The part farthest behind `reader`, about `count` bytes; nil where there is none.
  private func partBehind(_ reader: Int, _ count: Int) -> Range<Int>? {
    guard let first = present.ranges.first, first.lowerBound < reader else { return nil }
    let enough = (first.lowerBound + count + Self.block - 1) / Self.block * Self.block
    var end = min(first.upperBound, reader, enough)
    if end < first.upperBound { end = end / Self.block * Self.block }
    return end > first.lowerBound ? first.lowerBound..<end : nil
  }

  /// The part farthest ahead of `reader`.
  private func partAhead(of reader: Int, _ count: Int) -> Range<Int>? {
    guard let last = present.ranges.last else { return nil }
    var start = max(last.lowerBound, reader, last.upperBound - count)
    if start > last.lowerBound { start = (start + Self.block - 1) / Self.block * Self.block }
    return start < last.upperBound ? start..<last.upperBound : nil
  }

  private static let block = 4096

  /// Gives `range` up, and the blocks it shares with no byte that stays.
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

  /// An absolute path in the environment.
  private static func variable(_ name: String) -> String? {
    FileName.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func open(in folder: String) -> Int32 {
    try? FileSystem.makeFolders(of: folder + "/")
    if let unnamed = try? FileSystem.openUnnamed(in: folder, mode: 0o600) { return unnamed }
    // Some file systems know no files without a name.
    let path = "\(folder)/remote-\(UInt64.random(in: 0 ... .max))"
    guard
      let named = try? FileSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    else { return -1 }
    try? FileSystem.remove(path)
    return named
  }
}
