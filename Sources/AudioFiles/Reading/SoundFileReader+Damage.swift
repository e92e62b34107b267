/// The damage found in a FLAC file. The decoder of libsndfile stops at a damaged frame and does not
/// continue after it, so it is opened again and seeks to the next frame that it can decode.
struct FLACDamage {
  /// Whether silence replaces damaged data. Otherwise the file ends before it.
  var isSkipped = false
  /// The frame up to which silence replaces damaged data.
  var silenceEnd = 0
  /// Whether a frame after damaged data was decoded.
  var isFound = false
  /// The damaged frames that were found. The frame after each range can be decoded.
  var ranges: [Range<Int>] = []
  /// The frame from which on no frame can be decoded.
  var end = Int.max
  /// The number of bytes that may still be read in searches. A maliciously made file has damage
  /// everywhere, or a long stretch in which the decoder looks for a frame again and again.
  var searchedByteCount = 512 << 20

  /// Returns the damaged range that contains `frame`; nil if it is not known.
  func range(containing frame: Int) -> Range<Int>? { ranges.first { $0.contains(frame) } }

  /// Notes that `range` is damaged. Replaces a range that ends at the same frame.
  mutating func note(_ range: Range<Int>) {
    ranges.removeAll { $0.upperBound == range.upperBound }
    ranges.append(range)
  }
}

/// A search for the first block that can be decoded: with steps that double up to a block that can,
/// and then between this block and the last one that cannot.
struct DecodableBlockSearch {
  private var damaged: Int
  private(set) var found: Int?
  private let end: Int
  private var step = 1

  /// Searches from the block after `damaged` to the one before `end`.
  init(after damaged: Int, before end: Int) {
    self.damaged = damaged
    self.end = end
  }

  /// The block to decode next; nil at the end of the search.
  var next: Int? {
    let upper = found ?? end
    guard damaged + 1 < upper else { return nil }
    return found == nil ? min(damaged + step, end - 1) : damaged + (upper - damaged) / 2
  }

  /// Notes whether `block` can be decoded.
  mutating func note(_ block: Int, isDecodable: Bool) {
    if isDecodable {
      found = block
    } else {
      damaged = block
      step *= 2
    }
  }
}

extension SoundFileReader {
  /// Whether damaged data was replaced by silence.
  var isDamaged: Bool { damage.isFound }

  /// Whether a FLAC file of unknown length has bytes that the decoder did not read: it stopped at
  /// damaged data.
  var endsBeforeItsBytes: Bool {
    guard fileFormat == .flac, frameCount == nil, let byteCount = bytes.byteCount else {
      return false
    }
    return bytes.position < byteCount
  }

  /// Skips damaged data of a FLAC file on disk from `frame` on: prepares the decoder for the next
  /// frame that it can decode, and silence up to this frame. Returns false if there is none.
  mutating func skipDamage(at frame: Int) throws(FileFailure) -> Bool {
    guard canRestart, let frameCount, frame < min(frameCount, damage.end) else { return false }
    let known = damage.range(containing: frame)
    var next = known?.upperBound
    if next == nil {
      // A file that is played backwards comes to the same damage again, from behind.
      let above = damage.ranges.filter { $0.lowerBound > frame }
        .min { $0.lowerBound < $1.lowerBound }
      next =
        try firstDecodable(after: frame, before: above?.lowerBound ?? frameCount)
        ?? above?.upperBound
    }
    guard known != nil || damage.searchedByteCount > 0 else { return false }
    guard let next else {
      damage.end = frame
      return false
    }
    guard try restart(at: next) else { return false }
    if known == nil { damage.note(frame..<next) }
    damage.silenceEnd = next
    damage.isFound = true
    return true
  }

  /// Returns the first beginning of a block between two frames that can be decoded; nil if there is
  /// none, or if too much was read.
  private mutating func firstDecodable(
    after frame: Int, before end: Int
  ) throws(FileFailure) -> Int? {
    let blockFrames = try self.blockFrames
    var search = DecodableBlockSearch(
      after: frame / blockFrames, before: (end + blockFrames - 1) / blockFrames)
    while let block = search.next {
      guard damage.searchedByteCount > 0 else { return nil }
      search.note(block, isDecodable: try isDecodable(block * blockFrames))
    }
    return search.found.map { $0 * blockFrames }
  }

  /// Prepares the decoder of a FLAC file on disk for `frame` or, if this one is damaged, for the
  /// next frame that it can decode. Returns false, and returns to the present position, if there is
  /// none.
  mutating func recover(at frame: Int) throws(FileFailure) -> Bool {
    guard canRestart, let frameCount else { return false }
    let silenceEnd = damage.silenceEnd
    if frame < min(frameCount, damage.end), try finds(frame) { return true }
    // A decoder that has refused a frame does not continue.
    _ = try restart(at: max(position, silenceEnd))
    damage.silenceEnd = silenceEnd
    return false
  }

  private mutating func finds(_ frame: Int) throws(FileFailure) -> Bool {
    if damage.range(containing: frame) == nil {
      guard damage.searchedByteCount > 0 else { return false }
      if try isDecodable(frame) { return true }
    }
    return try skipDamage(at: frame)
  }

  /// Restarts at `frame` as `restart` does, and counts the bytes that are read as searched.
  private mutating func isDecodable(_ frame: Int) throws(FileFailure) -> Bool {
    file.allowedByteCount = damage.searchedByteCount
    defer {
      damage.searchedByteCount = file.allowedByteCount
      file.allowedByteCount = .max
    }
    do throws(FileFailure) {
      return try restart(at: frame)
    } catch {
      // Without the allowance, not even the header could be read. If another program has changed
      // the file, there may be no header.
      guard file.allowedByteCount == 0 || error.kind == .unknownContents else { throw error }
      return false
    }
  }

  /// Opens a FLAC file on disk again, because a decoder that failed does not recover, and seeks to
  /// `frame`. Returns false if this frame cannot be decoded.
  private mutating func restart(at frame: Int) throws(FileFailure) -> Bool {
    damage.silenceEnd = 0
    return try reopen(at: frame)
  }

  private var canRestart: Bool {
    damage.isSkipped && fileFormat == .flac && isSeekable && bytes.source is LocalFile
  }

  /// The number of frames in a block; a small number if it varies.
  private var blockFrames: Int {
    get throws(FileFailure) {
      let start = try bytes.endOfID3Tags(withFooters: false) ?? 0
      let body = try bytes.bytes(at: start + 8, count: FLACInformation.byteCount)
      let frames = FLACInformation(body)?.blockFrames ?? 0
      return frames > 0 ? frames : 256
    }
  }
}
