/// The sequence of blocks of MPEG audio in a byte source. It finds the first block, continues after
/// damage, and seeks to any block.
struct MPEGStream {
  let bytes: BufferedBytes
  /// The first audio block. All other blocks must be compatible with it.
  let first: MPEGHeader
  let information: MPEGInformation?
  /// The offset of the first audio block in bytes.
  let start: Int
  /// The average size in bytes of the blocks at the beginning.
  private let averageByteCount: Double
  /// Whether all blocks have the same bit rate, according to the beginning of the file.
  let isConstant: Bool
  /// Whether blocks follow after the end given by the encoder header, such as in joined files; nil
  /// if the bytes can only be read in sequence and that place was not reached yet.
  private(set) var continuesAfterEnd: Bool?

  private var index: MPEGIndex
  /// The index of the block at the position of `bytes`.
  private(set) var nextBlock = 0
  /// Whether `nextBlock` was counted from the beginning, and not estimated.
  private(set) var isCounted = true
  /// The number of times that data other than blocks and tags was skipped between two blocks.
  private(set) var damageCount = 0

  /// The maximum number of bytes skipped before the first block, and, in an endless source, between
  /// two blocks.
  private static let searchByteCount = 262_144

  /// The maximum number of bytes skipped between two blocks. A local file is searched to its end.
  private let gapByteCount: Int
  /// Whether the bytes are on this machine.
  private let isNear: Bool

  /// Finds the first block at or after the position of `bytes`. Throws `.unknownContents` if there
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
    let survey = try BlockStatistics(bytes, second)
    averageByteCount = survey.averageByteCount
    isConstant = information?.isConstant ?? survey.isConstant
    index = MPEGIndex(start: start)
    first = second.isCompatible(with: found) ? second : found
    if information != nil, !bytes.isSeekable || bytes.byteCount == nil {
      continuesAfterEnd = nil
    } else if let stated = information?.byteCount {
      continuesAfterEnd = try Self.continues(
        after: start - found.byteCount + stated, bytes, like: first)
    } else {
      continuesAfterEnd = false
    }
    bytes.position = start
    // The last bytes read may be those at the end of the file.
    if information != nil { try bytes.prepare() }
    self.bytes = bytes
    self.isNear = isNear
    gapByteCount =
      bytes.byteCount == nil
      ? Self.searchByteCount : isNear ? FileBounds.byteCount : FileBounds.searchByteCount
    self.information = information
    self.start = start
  }

  /// Moves `bytes` to the next block and returns its header; nil at the end, or after an
  /// interruption.
  mutating func next() throws(FileFailure) -> MPEGHeader? {
    let head = try bytes.peek(4)
    if let header = head.header(at: 0), header.isCompatible(with: first) {
      // A truncated file ends with the last complete block.
      if let all = bytes.byteCount, bytes.position + header.byteCount > all { return nil }
      if isCounted { index.note(nextBlock, at: bytes.position) }
      return header
    }
    guard head.count == 4 else { return nil }
    var isTag = head.holds("TAG", at: 0)
    if !isTag { isTag = try ID3Tags(skippedIn: bytes) != nil }
    let limit = bytes.position + gapByteCount
    guard let header = try Self.search(bytes, upTo: limit, like: first) else {
      guard bytes.position >= limit else { return nil }
      throw FileFailure(
        .unusableContents, "\(bytes.name) no longer holds MP3 sound.",
        hint: "Play it again, or check what it is.")
    }
    if !isTag { damageCount += 1 }
    if isCounted { index.note(nextBlock, at: bytes.position) }
    return header
  }

  /// Moves past the block that `next` found.
  mutating func pass(_ header: MPEGHeader) {
    bytes.position += header.byteCount
    nextBlock += 1
  }

  /// Moves to `block` by counting from the last known place before it, or to the end if there are
  /// fewer blocks. Returns false after an interruption.
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

  /// Moves to `block` without reading the blocks before it: exactly if all blocks have the same
  /// size, otherwise as precisely as the seek table of the encoder header allows. Without such a
  /// table it calls `walk`. Returns false after an interruption.
  mutating func leap(to block: Int) throws(FileFailure) -> Bool {
    let known = index.place(before: block)
    let guess = offset(of: block)
    // Without a seek table, the estimate may be far off, and beyond the end.
    let isGuess = !isConstant && information?.share(ofTime: 0.5) == nil
    let isBehindEnd = bytes.byteCount.map { guess >= $0 } ?? false
    if isGuess || isBehindEnd || index.reaches(block) || guess <= known.offset + 4 * 16384 {
      return try walk(to: block)
    }
    let half = Int(clamping: averageByteCount / 2)
    bytes.position = max(start, isConstant ? guess - half : guess)
    nextBlock = block
    isCounted = false
    let limit = bytes.position + gapByteCount
    guard try Self.search(bytes, upTo: limit, like: first) != nil else {
      return !bytes.wasInterrupted
    }
    // Blocks of the same size differ by one byte of padding, so the nearest block is the right one.
    isCounted = isConstant && abs(bytes.position - guess) < half
    return true
  }

  /// Returns whether more than one or two miscounted blocks and tags follow from `end` on.
  private static func continues(
    after end: Int, _ bytes: BufferedBytes, like first: MPEGHeader
  ) throws(FileFailure) -> Bool {
    guard bytes.isSeekable, let all = bytes.byteCount, end > bytes.position,
      all - end > 4 * first.byteCount
    else { return false }
    bytes.position = end
    if try bytes.peek(3).holds("TAG", at: 0) { bytes.position += ID3Head.closingByteCount }
    _ = try ID3Tags(skippedIn: bytes)
    do throws(FileFailure) {
      return try search(bytes, upTo: bytes.position + first.byteCount, like: first) != nil
    } catch {
      // Audio with another sample rate follows.
      guard error.kind == .unusableContents else { throw error }
      return true
    }
  }

  /// Returns whether blocks follow after those announced by the encoder header, if this was unknown
  /// before. The position of `bytes` must be among the last blocks, and does not change.
  mutating func continuesAfterEncoderHeader() throws(FileFailure) -> Bool {
    guard continuesAfterEnd == nil, let count = announcedBlockCount,
      count - nextBlock <= Self.maximumPadding
    else { return false }
    var offset = 0
    for _ in nextBlock..<max(nextBlock, count) {
      guard let header = try bytes.peek(offset + 4).header(at: offset) else { return false }
      offset += header.byteCount
      guard offset + ID3Head.closingByteCount + 4 <= BufferedBytes.maximumPeeked else {
        return false
      }
    }
    if try bytes.peek(offset + 3).holds("TAG", at: offset) { offset += ID3Head.closingByteCount }
    let window = try bytes.peek(offset + 4)
    let isFound = window.header(at: offset) != nil || window.holds("ID3", at: offset)
    if isFound || !bytes.wasInterrupted { continuesAfterEnd = isFound }
    return isFound
  }

  /// Whether too many of the bytes announced by the encoder header follow the position to be
  /// padding. In this case the header announces too few blocks.
  var hasManyBytesLeft: Bool {
    guard isCounted, let stated = information?.byteCount else { return false }
    let end = min(start + stated - first.byteCount, bytes.byteCount ?? 0)
    return end - bytes.position > (Self.maximumPadding + 2) * first.largestByteCount
  }

  /// The maximum number of blocks that an encoder adds after the audio. The encoder header gives
  /// the number of their frames in 12 bits.
  private static let maximumPadding = 4096 / 576 + 1

  /// The number of blocks according to the encoder header, if it is consistent with the number of
  /// bytes; nil if it can only be determined by reading on.
  var announcedBlockCount: Int? {
    guard let information, let count = information.blockCount, count > 0, continuesAfterEnd != true,
      count <= largestBlockCount ?? count
    else { return nil }
    guard let all = bytes.byteCount, let stated = information.byteCount, stated > 0 else {
      return count
    }
    guard fits(count, inBytes: stated) else { return nil }
    let there = all - start + Int(clamping: averageByteCount)
    return there + 2 * Int(clamping: averageByteCount) >= stated && there <= stated + 262_144
      ? count : nil
  }

  /// Returns whether `count` blocks may have `byteCount` bytes. If all blocks have the same size,
  /// the number of bytes determines their number. Otherwise the average size may differ from that
  /// at the beginning by a factor of up to 3; beyond that, the blocks of a local file are counted.
  private func fits(_ count: Int, inBytes byteCount: Int) -> Bool {
    let likely = Double(byteCount) / averageByteCount
    if isConstant { return abs(likely - Double(count)) <= max(8, 0.01 * likely) }
    return !isNear || (likely / 3...likely * 3).contains(Double(count))
  }

  /// The number of blocks announced by the encoder header, if the file has too few bytes for them;
  /// otherwise nil. Small differences are ignored, because encoders often miscount by a block or
  /// two.
  var missedBlockCount: Int? {
    guard let information, let count = information.blockCount, let all = bytes.byteCount else {
      return nil
    }
    if let largestBlockCount, count > largestBlockCount { return count }
    guard let stated = information.byteCount else { return nil }
    let there = all - start + Int(clamping: averageByteCount)
    return there + 8 * Int(clamping: averageByteCount) < stated ? count : nil
  }

  /// The maximum number of blocks in the file, at the lowest bit rate.
  var largestBlockCount: Int? {
    bytes.byteCount.map { max(0, $0 - start) / MPEGHeader.smallestByteCount + 1 }
  }

  /// The estimated number of blocks, if the blocks not read yet are like those at the beginning.
  var estimatedBlockCount: Int? {
    bytes.byteCount.map { max(1, Int(rounding: Double(max(0, $0 - start)) / averageByteCount)) }
  }

  /// The bit rate in bits per second according to the encoder header or the first blocks.
  var bitRate: Int {
    let seconds = Double(first.frameCount) / Double(first.sampleRate)
    if let information, let count = information.blockCount, let stated = information.byteCount,
      count > 0, stated > 0
    {
      return FileBounds.bitRate(
        bytes: stated, seconds: Double(count) * seconds, sampleRate: first.sampleRate,
        channelCount: first.channelCount) ?? first.bitRate
    }
    return isConstant ? first.bitRate : Int(rounding: averageByteCount * 8 / seconds)
  }

  private func offset(of block: Int) -> Int {
    if !isConstant, let information, let count = announcedBlockCount,
      let stated = information.byteCount ?? bytes.byteCount.map({ $0 - start }),
      let share = information.share(ofTime: Double(block) / Double(count))
    {
      return start + Int(clamping: share * Double(stated))
    }
    return start + Int(rounding: Double(block) * averageByteCount)
  }
}

/// Search for blocks among other data.
extension MPEGStream {
  /// Moves to the next block at or after the position and before `limit` that is followed by other
  /// blocks or by the end. Returns nil if there is none, or after an interruption; the position is
  /// then after the bytes searched. Throws `.unusableContents` for audio with another sample rate,
  /// and for Ogg in an endless source: a station that changes its format would otherwise be silent
  /// for as long as its bytes are searched.
  static func search(
    _ bytes: BufferedBytes, upTo limit: Int, like first: MPEGHeader?
  ) throws(FileFailure) -> MPEGHeader? {
    while bytes.position < limit {
      let window = try bytes.peek(4096)
      guard window.count >= 4 else { return nil }
      if first != nil, bytes.byteCount == nil, window.holdsOggPage {
        throw .changedFormat(bytes.name)
      }
      let last = window.count - 4
      // Most bytes cannot begin a block: with a look at the first one, they are skipped five times
      // as fast.
      let found = (0...last).first { window[$0] == 0xFF && window.header(at: $0) != nil }
      guard let candidate = found else {
        bytes.position += last + 1
        continue
      }
      let header = window.header(at: candidate)
      bytes.position += candidate
      guard let header else { continue }
      let followers = try countFollowers(of: header, bytes)
      if let first, !header.isCompatible(with: first) {
        // So many consecutive blocks cannot occur by chance.
        if followers >= 4 { throw .changedRate(bytes.name, first.sampleRate, header.sampleRate) }
      } else if followers >= 2 {
        return header
      }
      if bytes.wasInterrupted && bytes.source.isInterrupted { return nil }
      bytes.position += 1
    }
    return nil
  }

  /// Counts up to four compatible blocks after the one at the current position. A tag or the end of
  /// the data counts as two more blocks, even in the middle of a block.
  private static func countFollowers(
    of header: MPEGHeader, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int {
    var header = header
    var length = header.byteCount
    for count in 0..<4 {
      let window = try bytes.peek(length + 4)
      if window.holds("TAG", at: length) { return count + 2 }
      // The data ends between two blocks, or within a block after a complete one.
      if window.count < length + 4 { return window.count >= length || count > 0 ? count + 2 : 0 }
      guard let next = window.header(at: length), next.isCompatible(with: header) else {
        return count
      }
      length += next.byteCount
      header = next
    }
    return 4
  }

  /// The average size of the first blocks within 8 KiB, and whether they have the same bit rate.
  struct BlockStatistics {
    var averageByteCount: Double
    var isConstant = true

    init(_ bytes: BufferedBytes, _ first: MPEGHeader) throws(FileFailure) {
      let window = try bytes.peek(8192)
      var offset = 0
      var count = 0
      var isPadded = false
      while let header = window.header(at: offset), header.isCompatible(with: first) {
        offset += header.byteCount
        count += 1
        if header.bitRate != first.bitRate { isConstant = false }
        if header.isPadded { isPadded = true }
      }
      if !isConstant {
        averageByteCount = Double(offset) / Double(max(1, count))
      } else if isPadded || count < 8 {
        averageByteCount = first.averageByteCount
      } else {
        // Some encoders never add padding.
        averageByteCount = first.averageByteCount.rounded(.down)
        if first.layer == 1 { averageByteCount = Double(first.byteCount) }
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a page of Ogg begins in the bytes: its name and version, and one of its flags.
  fileprivate var holdsOggPage: Bool {
    indices.contains { offset in
      self[offset] == UInt8(ascii: "O") && offset + 6 <= count && holds("OggS\0", at: offset)
        && self[offset + 5] < 8
    }
  }
}

extension FileFailure {
  /// Returns the failure to continue a stream that becomes Ogg.
  static func changedFormat(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) changes its format from MP3 to Ogg midway.",
      hint: "Play it again: it is then opened in its new format.")
  }

  /// Returns the failure to find a block.
  static func noMPEG(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents, "\(name) holds no MP3 sound that can be read.",
      hint: "Check that it is a sound file or a stream, and not a web page.")
  }

  /// Returns the failure to continue a stream whose sample rate changes.
  static func changedRate(_ name: String, _ before: Int, _ after: Int) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) changes its sample rate from \(before) to \(after) Hz midway.",
      hint: "Play the stream again, or convert the file to one rate with ffmpeg.")
  }
}

extension BufferedBytes {
  /// Throws an error if data was not found only because the opening was interrupted.
  func checkOpening() throws(FileFailure) {
    try check()
    guard wasInterrupted else { return }
    throw FileFailure(
      .readFailed, "Opening \(name) was interrupted.", hint: "Open it again.")
  }
}
