/// Edits to the bytes of a file, after which it describes its contents correctly.
struct RepairPlan: Sendable, Equatable {
  /// Bytes that replace a stretch of the file.
  struct Edit: Sendable, Equatable {
    let range: Range<Int>
    let bytes: [UInt8]

    var keepsLength: Bool { bytes.count == range.count }
  }

  /// The length of the file in bytes when it was examined.
  let byteCount: Int
  /// The edits in the order in which they are made: the inner sizes before the outer ones.
  private(set) var edits: [Edit] = []
  /// The new end of the file: `ending` follows at this offset.
  private(set) var end: Int
  private(set) var ending: [UInt8] = []

  init(byteCount: Int) {
    self.byteCount = byteCount
    end = byteCount
  }

  /// Whether the plan changes nothing.
  var isEmpty: Bool { edits.isEmpty && end == byteCount && ending.isEmpty }

  /// Whether every byte that is kept also keeps its offset.
  var fitsInPlace: Bool { edits.allSatisfy(\.keepsLength) }

  /// The length of the repaired file in bytes.
  var repairedByteCount: Int {
    edits.reduce(end + ending.count) { $0 + $1.bytes.count - $1.range.count }
  }

  /// Replaces as many bytes at `offset` by `bytes`, if they differ.
  mutating func set(_ bytes: [UInt8], at offset: Int, in file: DamagedFile) throws(FileFailure) {
    guard try file.bytes(at: offset, count: bytes.count) != bytes else { return }
    replace(offset..<offset + bytes.count, with: bytes)
  }

  /// Inserts `bytes` before the byte at `offset`.
  mutating func insert(_ bytes: [UInt8], at offset: Int) {
    replace(offset..<offset, with: bytes)
  }

  /// Replaces a stretch of the file by `bytes`, unless it reaches beyond the new end.
  mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
    guard range.upperBound <= end else { return }
    edits.append(Edit(range: range, bytes: bytes))
  }

  /// Ends the file at `offset` followed by `bytes`, unless it already ends like this. Removes the
  /// edits of bytes that are cut off.
  mutating func cut(
    at offset: Int, ending bytes: [UInt8] = [], in file: DamagedFile
  ) throws(FileFailure) {
    let rest = byteCount - offset
    if rest == bytes.count, try file.bytes(at: offset, count: rest) == bytes { return }
    end = offset
    ending = bytes
    edits.removeAll { $0.range.upperBound > offset }
  }
}
