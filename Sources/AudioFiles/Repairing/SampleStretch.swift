/// Where the samples of a file of chunks really begin and end, and what becomes of what follows.
struct SampleStretch {
  /// Bytes of whole frames.
  let byteCount: Int
  /// Where the mended file ends, before any padding.
  let end: Int
  /// What must stand behind `end`.
  let padding: [UInt8]
  /// What is wrong with the end, in words.
  let faults: [String]
  /// Bytes that stand behind the last chunk and are left there.
  let foreignByteCount: Int

  /// Finds out for samples that begin at `start`, `declared` bytes of them by the header: nil where
  /// it leaves that open. `formEnd` is where the whole file ends by its header.
  init(
    _ walk: ChunkWalk, start: Int, declared: Int?, frameByteCount: Int, formEnd: Int
  ) throws(FileFailure) {
    let count = walk.file.byteCount
    let believed = try Self.believed(
      walk, start: start, declared, frameByteCount: frameByteCount)
    let closing = believed == nil ? try walk.closingChunks(from: start) : nil
    let samples = start..<(believed ?? closing ?? count)
    let isLast = start + walk.style.aligned(samples.count) >= count
    let tail = isLast ? nil : try Tail(walk, behind: samples, formEnd: formEnd)
    if let tail, tail.isLeft || tail.end != samples.upperBound {
      // What does not make a frame is no part of samples whose length is found out here.
      let part = believed == nil ? samples.count % frameByteCount : 0
      self.init(walk, followedBy: tail, byteCount: samples.count - part)
    } else {
      try self.init(
        walk, closing: samples, isBelieved: believed != nil, frameByteCount: frameByteCount,
        faults: tail?.faults ?? [])
    }
  }

  /// That of samples which are the last thing in the file, or in what is left of it.
  private init(
    _ walk: ChunkWalk, closing samples: Range<Int>, isBelieved: Bool, frameByteCount: Int,
    faults earlier: [String]
  ) throws(FileFailure) {
    var torn = samples.count % frameByteCount
    let isPadded = walk.style.alignment == 2
    // Some count the byte of padding among the samples.
    if torn == 1, isPadded, isBelieved, samples.upperBound % 2 == 0,
      try walk.file.byte(at: samples.upperBound - 1) == 0
    {
      torn = 0
    }
    let end = samples.upperBound - torn
    let missing = isPadded ? end % 2 : 0
    var faults = earlier
    if torn > 0 { faults.append("the last frame was torn, its \(bytes(torn)) cut off") }
    if missing == 1, end == walk.file.byteCount { faults.append(Self.unpadded) }
    byteCount = end - samples.lowerBound
    self.end = end
    padding = [UInt8](repeating: 0, count: missing)
    foreignByteCount = 0
    self.faults = faults
  }

  /// That of samples behind which chunks stand.
  private init(_ walk: ChunkWalk, followedBy tail: Tail, byteCount: Int) {
    foreignByteCount = tail.foreignByteCount
    end = tail.end
    let missing = walk.style.alignment == 2 && foreignByteCount == 0 ? tail.missingPadding : 0
    faults = tail.faults + (missing == 1 && tail.isLeft ? [Self.unpadded] : [])
    padding = [UInt8](repeating: 0, count: missing)
    self.byteCount = byteCount
  }

  /// The chunks behind samples, and what stands behind those.
  private struct Tail {
    /// Whether all of it stays.
    let isLeft: Bool
    /// Where what stays of it ends.
    let end: Int
    let foreignByteCount: Int
    /// Bytes of padding that the last chunk lacks. Chunks may lie at odd places, where the padding of
    /// an earlier one was forgotten.
    let missingPadding: Int
    let faults: [String]

    init(_ walk: ChunkWalk, behind samples: Range<Int>, formEnd: Int) throws(FileFailure) {
      let count = walk.file.byteCount
      var place = samples.lowerBound + walk.style.aligned(samples.count)
      // The byte of padding is sometimes forgotten.
      if try !walk.beginsChunk(at: place), try walk.beginsChunk(at: samples.upperBound) {
        place = samples.upperBound
      }
      var torn: String?
      var last = samples.upperBound
      while torn == nil, let chunk = try walk.chunk(at: place) {
        guard let end = walk.end(of: chunk), let next = walk.next(after: chunk) else {
          torn = chunk.identifier
          break
        }
        last = end
        place = next
      }
      let isPadding = try isSilent(walk.file, from: place) && count - place < 8
      isLeft = torn == nil && (place >= count || formEnd == place || isPadding)
      foreignByteCount = isLeft ? max(0, count - place) : 0
      end = isLeft ? count : last
      missingPadding = max(0, place - end)
      if let torn {
        faults = ["the chunk \"\(torn)\" at the end was torn and is cut off"]
      } else {
        faults = isLeft ? [] : ["\(bytes(count - place)) behind the last chunk belonged to none"]
      }
    }
  }

  private static let unpadded = "the byte of padding was missing"

  /// Where the samples end by their header, if what follows bears it out.
  private static func believed(
    _ walk: ChunkWalk, start: Int, _ declared: Int?, frameByteCount: Int
  ) throws(FileFailure) -> Int? {
    let count = walk.file.byteCount
    guard let declared, declared >= 0, declared <= count - start else { return nil }
    let end = start + declared
    let padded = start + walk.style.aligned(declared)
    // What is less than a frame is no sound that the header knows nothing of.
    if padded >= count || count - padded < min(frameByteCount, 8) { return end }
    if try walk.beginsChunk(at: padded) { return end }
    guard padded != end, try walk.beginsChunk(at: end) else { return nil }
    return end
  }
}

/// Whether nothing but zeros follows.
private func isSilent(_ file: DamagedFile, from place: Int) throws(FileFailure) -> Bool {
  try file.bytes(at: place, count: min(8, file.byteCount - place)).allSatisfy { $0 == 0 }
}

/// "1 byte", "3 bytes".
private func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
