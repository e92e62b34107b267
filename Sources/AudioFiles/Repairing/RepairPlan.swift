/// What of a file must become other bytes, so that it says what it holds.
struct RepairPlan: Sendable, Equatable {
  /// Bytes in the place of a stretch of the file.
  struct Edit: Sendable, Equatable {
    let range: Range<Int>
    let bytes: [UInt8]

    var keepsLength: Bool { bytes.count == range.count }
  }

  /// How long the file was when it was looked at.
  let byteCount: Int
  /// In the order in which they are made: the inner sizes before the outer ones.
  private(set) var edits: [Edit] = []
  /// What becomes of the end: from here on the file holds `ending`.
  private(set) var end: Int
  private(set) var ending: [UInt8] = []

  init(byteCount: Int) {
    self.byteCount = byteCount
    end = byteCount
  }

  /// Whether nothing changes.
  var isEmpty: Bool { edits.isEmpty && end == byteCount && ending.isEmpty }

  /// Whether every byte that stays, stays where it is.
  var fitsInPlace: Bool { edits.allSatisfy(\.keepsLength) }

  /// How long the mended file is.
  var mendedByteCount: Int {
    edits.reduce(end + ending.count) { $0 + $1.bytes.count - $1.range.count }
  }

  /// Puts `bytes` in the place of as many at `place`, where they differ.
  mutating func set(_ bytes: [UInt8], at place: Int, in file: DamagedFile) throws(FileFailure) {
    guard try file.bytes(at: place, count: bytes.count) != bytes else { return }
    edits.append(Edit(range: place..<place + bytes.count, bytes: bytes))
  }

  /// Puts `bytes` before the byte at `place`.
  mutating func insert(_ bytes: [UInt8], at place: Int) {
    edits.append(Edit(range: place..<place, bytes: bytes))
  }

  /// Ends the file at `place`, with `bytes` behind it, unless it does.
  mutating func cut(
    at place: Int, ending bytes: [UInt8] = [], in file: DamagedFile
  ) throws(FileFailure) {
    let rest = byteCount - place
    if rest == bytes.count, try file.bytes(at: place, count: rest) == bytes { return }
    end = place
    ending = bytes
  }
}
