/// The blocks of MPEG audio in a byte source, one after the other: finds the first, goes on behind
/// damage, and goes to any.
struct MPEGStream {
  let bytes: BufferedBytes
  /// The first block with sound, which all others must resemble.
  let first: MPEGHeader
  let information: MPEGInformation?
  /// Where the first block with sound lies.
  let start: Int
  /// Bytes of a block, on average of those at the beginning.
  private let averageByteCount: Double
  /// Whether all blocks have one bit rate, as far as one can see from the beginning.
  let isConstant: Bool

  private var index: MPEGIndex
  /// The block at the place in `bytes`.
  private(set) var nextBlock = 0
  /// Whether that was counted from the beginning, or reckoned.
  private(set) var isCounted = true
  /// How often something else than a block was skipped.
  private(set) var damageCount = 0

  /// Garbage that is skipped before the first block, and between two where there is no end.
  private static let searchByteCount = 262_144

  /// Garbage that is skipped between two blocks, at most: what is near is searched to its end.
  private let gapByteCount: Int

  /// Finds the first block at the place in `bytes` or after. Throws `.unusableContents` where there
  /// is none.
  init(_ bytes: BufferedBytes, isNear: Bool) throws(FileFailure) {
    let limit = bytes.position + Self.searchByteCount
    guard let found = try Self.search(bytes, upTo: limit, like: nil) else {
      try bytes.checkOpening()
      throw .noMPEG(bytes.name)
    }
    let block = try bytes.peek(found.byteCount)
    let information = MPEGInformation(block, found)
    if information != nil { bytes.position += found.byteCount }
    let start = bytes.position
    let second = information == nil ? found : try bytes.peek(4).header(at: 0) ?? found
    let survey = try Survey(bytes, second)
    averageByteCount = survey.averageByteCount
    isConstant = information?.isConstant ?? survey.isConstant
    index = MPEGIndex(start: start)
    first = second.isCompatible(with: found) ? second : found
    self.bytes = bytes
    gapByteCount =
      bytes.byteCount == nil
      ? Self.searchByteCount : isNear ? FileBounds.byteCount : FileBounds.searchByteCount
    self.information = information
    self.start = start
  }

  /// The header of the next block, at which `bytes` then stands. nil at the end, or after an
  /// interruption.
  mutating func next() throws(FileFailure) -> MPEGHeader? {
    let head = try bytes.peek(4)
    if let header = head.header(at: 0), header.isCompatible(with: first) {
      // A file that was cut short ends with the last whole block.
      if let all = bytes.byteCount, bytes.position + header.byteCount > all { return nil }
      if isCounted { index.note(nextBlock, at: bytes.position) }
      return header
    }
    guard head.count == 4 else { return nil }
    if head.holds("ID3", at: 0) {
      _ = try ID3Tags(skippedIn: bytes)
    } else if !head.holds("TAG", at: 0) {
      damageCount += 1
    }
    let limit = bytes.position + gapByteCount
    guard let header = try Self.search(bytes, upTo: limit, like: first) else {
      guard bytes.position >= limit else { return nil }
      throw FileFailure(
        .unusableContents, "\(bytes.name) no longer holds MP3 sound.",
        hint: "Start it anew, or check what it is.")
    }
    if isCounted { index.note(nextBlock, at: bytes.position) }
    return header
  }

  /// Goes behind the block that `next` found.
  mutating func pass(_ header: MPEGHeader) {
    bytes.position += header.byteCount
    nextBlock += 1
  }

  /// Goes to `block`, counted from the last place known before it, or to the end where there are
  /// fewer. False after an interruption.
  mutating func walk(to block: Int) throws(FileFailure) -> Bool {
    let known = index.place(before: block)
    if !(isCounted && nextBlock <= block && nextBlock >= known.block) {
      bytes.position = known.offset
      nextBlock = known.block
      isCounted = true
    }
    while nextBlock < block {
      guard let header = try next() else { return !bytes.wasInterrupted }
      pass(header)
    }
    return true
  }

  /// Goes to `block` without reading what lies before: exactly where all blocks are of one size,
  /// else as nearly as the encoder's notes or the average tell. False after an interruption.
  mutating func leap(to block: Int) throws(FileFailure) -> Bool {
    let known = index.place(before: block)
    let guess = offset(of: block)
    if guess <= known.offset + 4 * 16384 { return try walk(to: block) }
    let half = Int(clamping: averageByteCount / 2)
    bytes.position = max(start, isConstant ? guess - half : guess)
    nextBlock = block
    isCounted = false
    let limit = bytes.position + gapByteCount
    guard try Self.search(bytes, upTo: limit, like: first) != nil else {
      return !bytes.wasInterrupted
    }
    // Blocks of one size differ by a byte of padding: the nearest is the right one.
    isCounted = isConstant && abs(bytes.position - guess) < half
    return true
  }

  /// How many blocks there are, by the encoder's notes where they fit the bytes; nil where only
  /// reading on can tell.
  var announcedBlockCount: Int? {
    guard let information, let count = information.blockCount, count > 0,
      count <= largestBlockCount ?? count
    else { return nil }
    guard let all = bytes.byteCount, let said = information.byteCount, said > 0 else {
      return count
    }
    let there = all - start + Int(clamping: averageByteCount)
    return there + 2 * Int(clamping: averageByteCount) >= said && there <= said + 262_144
      ? count : nil
  }

  /// How many blocks the encoder's notes promise, where the file has too few bytes for them; a block
  /// or two are miscounted often.
  var missedBlockCount: Int? {
    guard let information, let count = information.blockCount, let all = bytes.byteCount else {
      return nil
    }
    if let largestBlockCount, count > largestBlockCount { return count }
    guard let said = information.byteCount else { return nil }
    let there = all - start + Int(clamping: averageByteCount)
    return there + 8 * Int(clamping: averageByteCount) < said ? count : nil
  }

  /// How many blocks fit the bytes at the lowest bit rate.
  var largestBlockCount: Int? {
    bytes.byteCount.map { max(0, $0 - start) / MPEGHeader.smallestByteCount + 1 }
  }

  /// How many blocks there should be if those not read yet are like those at the beginning.
  var estimatedBlockCount: Int? {
    bytes.byteCount.map { max(1, Int(rounding: Double(max(0, $0 - start)) / averageByteCount)) }
  }

  /// Bits a second, by the notes or the first blocks.
  var bitRate: Int {
    let seconds = Double(first.frameCount) / Double(first.sampleRate)
    if let information, let count = information.blockCount, let said = information.byteCount,
      count > 0, said > 0
    {
      return FileBounds.bitRate(bytes: said, seconds: Double(count) * seconds) ?? first.bitRate
    }
    return isConstant ? first.bitRate : Int(rounding: averageByteCount * 8 / seconds)
  }

  private func offset(of block: Int) -> Int {
    if !isConstant, let information, let count = announcedBlockCount,
      let said = information.byteCount ?? bytes.byteCount.map({ $0 - start }),
      let share = information.share(ofTime: Double(block) / Double(count))
    {
      return start + Int(clamping: share * Double(said))
    }
    return start + Int(rounding: Double(block) * averageByteCount)
  }
}
