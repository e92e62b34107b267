/// The actual extent of the samples in a file of chunks, and the treatment of the bytes after it.
struct SampleStretch {
  /// The number of bytes in whole frames.
  let byteCount: Int
  /// The offset at which the repaired file ends, before any padding.
  let end: Int
  /// The bytes that must follow at `end`.
  let padding: [UInt8]
  /// The faults at the end, in words.
  let faults: [String]
  /// The number of bytes after the last chunk that are left there.
  let foreignByteCount: Int

  /// Examines the samples that begin at `start` and have `declared` bytes according to the header,
  /// or nil if the header leaves the length open. `formEnd` is the end of the file according to its
  /// header.
  init(
    _ walk: ChunkWalk, start: Int, declared: Int?, frameByteCount: Int, formEnd: Int
  ) throws(FileFailure) {
    let count = walk.byteCount
    let believed = try Self.believed(
      walk, start: start, declared, frameByteCount: frameByteCount)
    let closing = believed == nil ? try walk.closingChunks(from: start) : nil
    let samples = start..<(believed ?? closing ?? count)
    let isLast = start + walk.style.aligned(samples.count) >= count
    let tail = isLast ? nil : try Tail(walk, behind: samples, formEnd: formEnd)
    if let tail, tail.isLeft || tail.end != samples.upperBound {
      // If the length of the samples is determined here, a partial frame does not belong to them.
      let part = believed == nil ? samples.count % frameByteCount : 0
      self.init(walk, followedBy: tail, byteCount: samples.count - part)
    } else {
      try self.init(
        walk, closing: samples, isBelieved: believed != nil, frameByteCount: frameByteCount,
        faults: tail?.faults ?? [])
    }
  }

  /// Examines samples that are the last part of the file, or of its remaining part.
  private init(
    _ walk: ChunkWalk, closing samples: Range<Int>, isBelieved: Bool, frameByteCount: Int,
    faults earlier: [String]
  ) throws(FileFailure) {
    var torn = samples.count % frameByteCount
    let isPadded = walk.style.alignment == 2
    // Some programs count the pad byte among the samples.
    if torn == 1, isPadded, isBelieved, samples.upperBound % 2 == 0,
      try walk.file.bytes(at: samples.upperBound - 1, count: 1) == [0]
    {
      torn = 0
    }
    let end = samples.upperBound - torn
    let missing = isPadded ? end % 2 : 0
    var faults = earlier
    if torn > 0 { faults.append("the last frame was torn, its \(torn.counted("byte")) cut off") }
    if missing == 1, end == walk.byteCount { faults.append(Self.unpadded) }
    byteCount = end - samples.lowerBound
    self.end = end
    padding = [UInt8](repeating: 0, count: missing)
    foreignByteCount = 0
    self.faults = faults
  }

  /// Examines samples that are followed by chunks.
  private init(_ walk: ChunkWalk, followedBy tail: Tail, byteCount: Int) {
    foreignByteCount = tail.foreignByteCount
    end = tail.end
    let missing = walk.style.alignment == 2 && foreignByteCount == 0 ? tail.missingPadding : 0
    faults = tail.faults + (missing == 1 && tail.isLeft ? [Self.unpadded] : [])
    padding = [UInt8](repeating: 0, count: missing)
    self.byteCount = byteCount
  }

  /// The chunks after the samples, and the data after these chunks.
  private struct Tail {
    /// Whether all of it is kept.
    let isLeft: Bool
    /// The offset at which the part that is kept ends.
    let end: Int
    let foreignByteCount: Int
    /// The number of pad bytes that the last chunk lacks. Chunks may be at odd offsets, if the
    /// padding of an earlier chunk is missing.
    let missingPadding: Int
    let faults: [String]

    init(_ walk: ChunkWalk, behind samples: Range<Int>, formEnd: Int) throws(FileFailure) {
      let count = walk.byteCount
      var position = samples.lowerBound + walk.style.aligned(samples.count)
      // The pad byte is sometimes missing.
      if try !walk.beginsTail(at: position), try walk.beginsTail(at: samples.upperBound) {
        position = samples.upperBound
      }
      var torn: String?
      var last = samples.upperBound
      var isForeign = try walk.isForeign(from: position)
      while !isForeign, torn == nil, let chunk = try walk.chunk(at: position) {
        guard let end = walk.end(of: chunk), let next = walk.next(after: chunk) else {
          torn = chunk.identifier
          break
        }
        last = end
        position = next
        isForeign = try walk.isForeign(from: position)
      }
      let isPadding = try isSilent(walk, from: position) && count - position < 8
      isLeft = torn == nil && (position >= count || formEnd == position || isPadding || isForeign)
      foreignByteCount = isLeft ? max(0, count - position) : 0
      end = isLeft ? count : last
      missingPadding = max(0, position - end)
      if let torn {
        faults = ["the chunk \"\(torn)\" at the end was torn and is cut off"]
      } else {
        let rest = (count - position).counted("byte")
        faults = isLeft ? [] : ["\(rest) behind the last chunk belonged to none"]
      }
    }
  }

  private static let unpadded = "the byte of padding was missing"

  /// Returns the end of the samples according to their header, if the data after it confirms this;
  /// nil otherwise.
  private static func believed(
    _ walk: ChunkWalk, start: Int, _ declared: Int?, frameByteCount: Int
  ) throws(FileFailure) -> Int? {
    let count = walk.byteCount
    guard let declared, declared >= 0, declared <= count - start else { return nil }
    let end = start + declared
    let padded = start + walk.style.aligned(declared)
    // Less than a frame after the samples is not audio that the header fails to count.
    if padded >= count || count - padded < min(frameByteCount, 8) { return end }
    // Some programs pad the samples of CAF to an even number of bytes as well.
    if count - end == 1, count % 2 == 0, try walk.file.bytes(at: end, count: 1) == [0] {
      return end
    }
    if try walk.beginsTail(at: padded) { return end }
    guard padded != end, try walk.beginsTail(at: end) else { return nil }
    return end
  }
}

/// The search for the chunks after the samples.
extension ChunkWalk {
  /// Returns the offset of the whole chunks with which the file ends; nil if there are none within
  /// its last mebibyte. Searches from the last offset to the first, so that each is checked once.
  func closingChunks(from earliest: Int) throws(FileFailure) -> Int? {
    let start = style.aligned(max(earliest, byteCount - 1_048_576))
    guard start < byteCount - 8 else { return nil }
    let bytes = try file.bytes(at: start, count: byteCount - start)
    var initials: [Bool] = Array(repeating: false, count: 256)
    for name in style.knownIdentifiers { initials[Int(name.utf8.first ?? 0)] = true }
    // Whether whole chunks lead from an offset to the last byte.
    var leads: [Bool] = Array(repeating: false, count: bytes.count)
    for offset in stride(from: 0, to: bytes.count - 8, by: style.alignment).reversed()
    where initials[Int(bytes[offset])] {
      let head = Array(bytes[offset..<min(offset + style.headByteCount, bytes.count)])
      guard let chunk = chunk(head, at: start + offset), let next = next(after: chunk),
        style.knownIdentifiers.contains(chunk.identifier)
      else { continue }
      // The last pad byte is often missing.
      let isLast = next == byteCount || end(of: chunk) == byteCount
      leads[offset] = isLast || (next < byteCount && leads[next - start])
    }
    return leads.firstIndex(of: true).map { start + $0 }
  }
}

/// Returns whether the next eight bytes, or as many as are left, are zeros.
private func isSilent(_ walk: ChunkWalk, from position: Int) throws(FileFailure) -> Bool {
  try walk.file.bytes(at: position, count: min(8, walk.byteCount - position)).allSatisfy { $0 == 0 }
}
