/// Where the samples of a file of chunks really begin and end, and what becomes of what follows.
struct SampleStretch {
  /// Bytes of whole frames.
  let byteCount: Int
  /// Where the mended file ends, before any padding.
  let end: Int
  /// What must stand behind `end`.
  let padding: [UInt8]
  /// Whether the samples are the last thing in the file.
  let isLast: Bool
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
    let style = walk.style
    var faults: [String] = []
    let believed = try Self.believed(
      walk, start: start, declared, frameByteCount: frameByteCount)
    let closing = believed == nil ? try walk.closingChunks(from: start) : nil
    let chunks = believed ?? closing ?? count
    guard chunks < count, start + style.aligned(chunks - start) < count else {
      var torn = (chunks - start) % frameByteCount
      // Some count the byte of padding among the samples.
      if torn == 1, style.alignment == 2, chunks % 2 == 0, believed != nil,
        try walk.file.byte(at: chunks - 1) == 0
      {
        torn = 0
      }
      if torn > 0 { faults.append("the last frame was torn and \(bytes(torn)) of it are cut off") }
      byteCount = chunks - start - torn
      end = chunks - torn
      let missing = style.alignment == 2 ? end % 2 : 0
      if missing == 1, torn == 0, count == end { faults.append("the byte of padding was missing") }
      padding = [UInt8](repeating: 0, count: missing)
      isLast = true
      foreignByteCount = 0
      self.faults = faults
      return
    }
    let length = chunks - start
    byteCount = believed == nil ? length - length % frameByteCount : length
    var place = start + style.aligned(chunks - start)
    // The byte of padding is sometimes forgotten.
    if try !walk.beginsChunk(at: place), try walk.beginsChunk(at: chunks) { place = chunks }
    var torn: String?
    var last = chunks
    while place < count {
      guard let chunk = try walk.chunk(at: place) else { break }
      guard let chunkEnd = walk.end(of: chunk), let next = walk.next(after: chunk) else {
        torn = chunk.identifier
        break
      }
      last = chunkEnd
      place = next
    }
    let isPadding = try isSilent(walk.file, from: place) && count - place < 8
    let isLeft = torn == nil && (place >= count || formEnd == place || isPadding)
    if let torn {
      faults.append("the chunk \"\(torn)\" at the end was torn and is cut off")
    } else if !isLeft {
      faults.append("\(bytes(count - place)) behind the last chunk belong to none and are cut off")
    }
    foreignByteCount = isLeft ? max(0, count - place) : 0
    end = isLeft ? count : last
    let missing = style.alignment == 2 && foreignByteCount == 0 ? end % 2 : 0
    if missing == 1, isLeft { faults.append("the byte of padding was missing") }
    padding = [UInt8](repeating: 0, count: missing)
    isLast = false
    self.faults = faults
  }

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
