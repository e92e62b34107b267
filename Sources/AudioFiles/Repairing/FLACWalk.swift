/// Goes through the frames of a FLAC file and believes those whose checksums are right.
struct FLACWalk {
  private let file: DamagedFile
  private let channelCount: Int
  private let trial: FLACTrial
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
    trial = FLACTrial(file, information)
  }

  /// Walks to the last frame: one look at each byte, however the file is made.
  ///
  /// A frame ends before the head of the next, where its checksum comes out: what is open is a head
  /// that no such end was found for yet.
  mutating func run() throws(FileFailure) {
    var checksums = RunningChecksum()
    var open = OpenFrames()
    var last: FLACFrameHeader?
    var zeros = 0
    for place in end..<max(end, file.byteCount) {
      let byte = try file.byte(at: place)
      if byte == 0xFF, let header = try header(at: place) {
        let mark = checksums.mark
        if let start = open.start(endingAt: place, before: header, mark: mark, longest) {
          take(start, to: place, &last)
          open.removeAll()
        }
        if follows(header, last) { open.add(header, at: place, mark: mark) }
      }
      checksums.add(byte)
      zeros = byte == 0 ? zeros + 1 : 0
      if zeros == Self.settlingByteCount {
        try settle(place + 1 - zeros, zeros, checksums.mark, &open, &last)
      }
    }
    try settle(file.byteCount - zeros, zeros, checksums.mark, &open, &last)
  }

  /// So many zeros follow a frame only where something ended that was to be longer.
  private static let settlingByteCount = 65536

  /// Nothing but zeros follows from `place` on: a frame that comes out there is whole, and may end with
  /// some of the zeros.
  private mutating func settle(
    _ place: Int, _ zeros: Int, _ mark: UInt16, _ open: inout OpenFrames,
    _ last: inout FLACFrameHeader?
  ) throws(FileFailure) {
    guard let start = open.start(endingAt: place, mark: mark, longest) else { return }
    let own = try zeros > 0 ? trial.zeroCount(of: start, before: place, atMost: zeros) : 0
    guard let own else { return }
    take(start, to: place + own, &last)
    open.removeAll()
  }

  private mutating func take(
    _ start: OpenFrames.Start, to frameEnd: Int, _ last: inout FLACFrameHeader?
  ) {
    if start.place != end { damagedStretches += 1 }
    add(start.header)
    last = start.header
    end = frameEnd
  }

  private mutating func add(_ header: FLACFrameHeader) {
    if blockFrames == 0 { blockFrames = header.frames }
    let sample = header.isVariable ? header.number : header.number * blockFrames
    let first = firstSample ?? sample
    firstSample = first
    frames = sample + header.frames - first
  }

  private func header(at place: Int) throws(FileFailure) -> FLACFrameHeader? {
    guard place + 6 <= file.byteCount, try file.byte(at: place + 1) & 0xFE == 0xF8 else {
      return nil
    }
    return try FLACFrameHeader(file.bytes(at: place, count: FLACFrameHeader.longest))
  }

  private func follows(_ header: FLACFrameHeader, _ last: FLACFrameHeader?) -> Bool {
    guard let last else { return true }
    return header.isVariable == last.isVariable && header.number >= last.nextNumber
  }

  /// Bytes of a frame at the most: twice what it takes without compression.
  private func longest(_ header: FLACFrameHeader) -> Int {
    1024 + 2 * header.frames * channelCount * 4
  }
}
