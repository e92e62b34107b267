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
  /// Whether blocks follow behind the bytes that the encoder's notes tell of, as where files were
  /// joined; nil where the bytes can only be read on and did not come to that place yet.
  private(set) var goesOn: Bool?

  private var index: MPEGIndex
  /// The block at the place in `bytes`.
  private(set) var nextBlock = 0
  /// Whether that was counted from the beginning, or reckoned.
  private(set) var isCounted = true
  /// Number of times that something other than blocks and tags was skipped between two blocks.
  private(set) var damageCount = 0

  /// Garbage that is skipped before the first block, and between two where there is no end.
  private static let searchByteCount = 262_144

  /// Garbage that is skipped between two blocks, at most: what is near is searched to its end.
  private let gapByteCount: Int
  /// Whether its bytes are on this machine.
  private let isNear: Bool

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
    if information != nil, !bytes.isSeekable || bytes.byteCount == nil {
      goesOn = nil
    } else if let said = information?.byteCount {
      goesOn = try Self.goesOn(behind: start - found.byteCount + said, bytes, like: first)
    } else {
      goesOn = false
    }
    bytes.position = start
    // What was looked at last may be the end of the file.
    if information != nil { try bytes.prepare() }
    self.bytes = bytes
    self.isNear = isNear
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
  /// else as nearly as the encoder's notes tell. Where they tell nothing it walks. False after an
  /// interruption.
  mutating func leap(to block: Int) throws(FileFailure) -> Bool {
    let known = index.place(before: block)
    let guess = offset(of: block)
    // Without notes the guess may be far off, and behind the end.
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
    // Blocks of one size differ by a byte of padding: the nearest is the right one.
    isCounted = isConstant && abs(bytes.position - guess) < half
    return true
  }

  /// Whether more than a miscounted block or two, and tags, follow from `end` on.
  private static func goesOn(
    behind end: Int, _ bytes: BufferedBytes, like first: MPEGHeader
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
      // Sound of another rate.
      guard error.kind == .unusableContents else { throw error }
      return true
    }
  }

  /// Whether blocks follow behind those that the encoder's notes tell of, where that was not known
  /// before. With the place in `bytes` among the last of them; it stays.
  mutating func looksBehindNotes() throws(FileFailure) -> Bool {
    guard goesOn == nil, let count = announcedBlockCount, count - nextBlock <= Self.mostPadding
    else { return false }
    var offset = 0
    for _ in nextBlock..<max(nextBlock, count) {
      guard let header = try bytes.peek(offset + 4).header(at: offset) else { return false }
      offset += header.byteCount
      guard offset + ID3Head.closingByteCount + 4 <= BufferedBytes.mostPeeked else { return false }
    }
    if try bytes.peek(offset + 3).holds("TAG", at: offset) { offset += ID3Head.closingByteCount }
    let window = try bytes.peek(offset + 4)
    let isFound = window.header(at: offset) != nil || window.holds("ID3", at: offset)
    if isFound || !bytes.wasInterrupted { goesOn = isFound }
    return isFound
  }

  /// Whether so many of the bytes that the encoder's notes tell of lie behind the place in `bytes`
  /// that these are no padding: then the notes count too few blocks.
  var hasManyBytesLeft: Bool {
    guard isCounted, let said = information?.byteCount else { return false }
    let end = min(start + said - first.byteCount, bytes.byteCount ?? 0)
    return end - bytes.position > (Self.mostPadding + 2) * first.largestByteCount
  }

  /// Blocks that an encoder adds behind the sound, at most: its notes have 12 bits for their
  /// frames.
  private static let mostPadding = 4096 / 576 + 1

  /// How many blocks there are, by the encoder's notes where they fit the bytes; nil where only
  /// reading on can tell.
  var announcedBlockCount: Int? {
    guard let information, let count = information.blockCount, count > 0, goesOn != true,
      count <= largestBlockCount ?? count
    else { return nil }
    guard let all = bytes.byteCount, let said = information.byteCount, said > 0 else {
      return count
    }
    guard fits(count, inBytes: said) else { return nil }
    let there = all - start + Int(clamping: averageByteCount)
    return there + 2 * Int(clamping: averageByteCount) >= said && there <= said + 262_144
      ? count : nil
  }

  /// Whether `count` blocks may take `byteCount` bytes. Where all are of one size, their number
  /// follows from the bytes. Where they are not, they may be up to three times as large as those at
  /// the beginning, or as small; what is beyond that is counted where it is near.
  private func fits(_ count: Int, inBytes byteCount: Int) -> Bool {
    let likely = Double(byteCount) / averageByteCount
    if isConstant { return abs(likely - Double(count)) <= max(8, 0.01 * likely) }
    return !isNear || (likely / 3...likely * 3).contains(Double(count))
  }

  /// How many blocks the encoder's notes promise, where the file has too few bytes for them; a
  /// block or two are miscounted often.
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
      return FileBounds.bitRate(
        bytes: said, seconds: Double(count) * seconds, sampleRate: first.sampleRate,
        channelCount: first.channelCount) ?? first.bitRate
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

/// Finding blocks among other bytes.
extension MPEGStream {
  /// Goes to the next block at the place in `bytes` or after, and before `limit`: one that others
  /// follow, or the end. nil where there is none, or after an interruption; what was searched is
  /// then passed. Throws `.unusableContents` at sound of another rate.
  static func search(
    _ bytes: BufferedBytes, upTo limit: Int, like first: MPEGHeader?
  ) throws(FileFailure) -> MPEGHeader? {
    while bytes.position < limit {
      let window = try bytes.peek(4096)
      guard window.count >= 4 else { return nil }
      let last = window.count - 4
      guard let candidate = (0...last).first(where: { window.header(at: $0) != nil }) else {
        bytes.position += last + 1
        continue
      }
      let header = window.header(at: candidate)
      bytes.position += candidate
      guard let header else { continue }
      let followers = try countFollowers(of: header, bytes)
      if let first, !header.isCompatible(with: first) {
        // That many in a row are no accident.
        if followers >= 4 { throw .changedRate(bytes.name, first.sampleRate, header.sampleRate) }
      } else if followers >= 2 {
        return header
      }
      if bytes.wasInterrupted && bytes.source.isInterrupted { return nil }
      bytes.position += 1
    }
    return nil
  }

  /// How many blocks like it follow the one at the place, up to 4; the end of all counts as many,
  /// also where it comes in the middle of a block.
  private static func countFollowers(
    of header: MPEGHeader, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int {
    var header = header
    var length = header.byteCount
    for count in 0..<4 {
      let window = try bytes.peek(length + 4)
      if window.holds("TAG", at: length) { return count + 2 }
      // Torn off: at a place between two blocks, or within one behind a whole one.
      if window.count < length + 4 { return window.count >= length || count > 0 ? count + 2 : 0 }
      guard let next = window.header(at: length), next.isCompatible(with: header) else {
        return count
      }
      length += next.byteCount
      header = next
    }
    return 4
  }

  /// Mean length of the first blocks, and whether they have one bit rate, as far as they are held:
  /// 8 KiB.
  struct Survey {
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
        // There are encoders that never pad.
        averageByteCount = first.averageByteCount.rounded(.down)
        if first.layer == 1 { averageByteCount = Double(first.byteCount) }
      }
    }
  }
}

extension FileFailure {
  /// No block was found.
  static func noMPEG(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents, "\(name) holds no MP3 sound that can be read.",
      hint: "Check that it is a sound file or a stream, and not a web page.")
  }

  /// A stream goes on at another rate, or with other channels, than it began.
  static func changedRate(_ name: String, _ before: Int, _ after: Int) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) changes its sample rate from \(before) to \(after) Hz midway.",
      hint: "Play the stream again, or convert the file to one rate with ffmpeg.")
  }
}

extension BufferedBytes {
  /// Throws where something was not found only because the opening was interrupted.
  func checkOpening() throws(FileFailure) {
    try check()
    guard wasInterrupted else { return }
    throw FileFailure(
      .readFailed, "Opening \(name) was interrupted.", hint: "Open it again.")
  }
}
