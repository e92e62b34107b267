/// Goes through the frames of a FLAC file and believes those whose checksums are right.
struct FLACWalk {
  private let file: DamagedFile
  private let channelCount: Int
  /// Samples of each channel up to the end of the last frame that is whole.
  private(set) var frames = 0
  /// Where that frame ends.
  private(set) var end: Int
  /// Stretches without a right frame that have right ones behind them.
  private(set) var damagedStretches = 0
  private var firstSample: Int?
  private var blockFrames: Int

  init(_ file: DamagedFile, from start: Int, _ information: FLACInformation) {
    self.file = file
    end = start
    blockFrames = information.blockFrames
    channelCount = information.channelCount
  }

  private struct Frame {
    let start: Int
    let header: FLACFrameHeader
  }

  /// Walks to the last frame.
  mutating func run() throws(FileFailure) {
    var place = end
    var last: FLACFrameHeader?
    while let frame = try nextFrame(from: place, after: last) {
      guard let frameEnd = try self.end(of: frame) else {
        // Another may begin within what this one claimed.
        place = frame.start + 1
        continue
      }
      if frame.start != end { damagedStretches += 1 }
      add(frame.header)
      last = frame.header
      end = frameEnd
      place = frameEnd
    }
  }

  private mutating func add(_ header: FLACFrameHeader) {
    if blockFrames == 0 { blockFrames = header.frames }
    let sample = header.isVariable ? header.number : header.number * blockFrames
    let first = firstSample ?? sample
    firstSample = first
    frames = sample + header.frames - first
  }

  /// The first head of a frame from `place` on that may follow `last`.
  private func nextFrame(
    from place: Int, after last: FLACFrameHeader?
  ) throws(FileFailure) -> Frame? {
    var place = place
    while place + 6 <= file.byteCount {
      if try file.byte(at: place) == 0xFF, try file.byte(at: place + 1) & 0xFE == 0xF8,
        let header = try header(at: place), follows(header, last)
      {
        return Frame(start: place, header: header)
      }
      place += 1
    }
    return nil
  }

  private func header(at place: Int) throws(FileFailure) -> FLACFrameHeader? {
    try FLACFrameHeader(file.bytes(at: place, count: FLACFrameHeader.longest))
  }

  private func follows(_ header: FLACFrameHeader, _ last: FLACFrameHeader?) -> Bool {
    guard let last else { return true }
    return header.isVariable == last.isVariable && header.number >= last.nextNumber
  }

  /// Where `frame` ends: before the head of the next, or the end of the file, where its checksum
  /// comes out. Nil where it does so nowhere.
  private func end(of frame: Frame) throws(FileFailure) -> Int? {
    let checksum = Checksum.flacFrame
    // Twice what it takes without compression.
    let longest = 1024 + 2 * frame.header.frames * channelCount * 4
    let limit = min(file.byteCount, frame.start + longest)
    var word: UInt16 = 0
    // With nothing but zeros behind it a frame still comes out: it ends before them.
    var settled = 0
    for place in frame.start..<limit {
      // A checksum with its own bytes behind it comes out as nothing.
      if word == 0, place > frame.start + frame.header.byteCount {
        if settled == 0 { settled = place }
        if try file.byte(at: place) == 0xFF, place + 6 <= file.byteCount,
          let next = try header(at: place), next.number == frame.header.nextNumber,
          next.isVariable == frame.header.isVariable
        {
          return place
        }
      } else {
        settled = 0
      }
      word = checksum.adding(try file.byte(at: place), to: word)
    }
    guard word == 0 else { return nil }
    if settled > 0 { return settled }
    return limit == file.byteCount ? limit : nil
  }
}
