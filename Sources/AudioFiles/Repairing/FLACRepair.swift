/// Mends FLAC: cuts behind the last frame whose checksum is right, and makes the head say how many
/// samples there are. A damaged frame in the middle is told, and left where it is.
struct FLACRepair {
  private let file: DamagedFile
  /// Where `fLaC` stands.
  private let start: Int

  init(_ file: DamagedFile, at start: Int) {
    self.file = file
    self.start = start
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where the head is of no use,
  /// or no frame is whole.
  func finding() throws(FileFailure) -> RepairFinding {
    let body = start + 8
    let head = try file.bytes(at: start + 4, count: 4)
    guard head.first.map({ $0 & 0x7F }) == 0,
      head.integer(at: 1, 3, bigEndian: true) == FLACInformation.byteCount,
      let information = try FLACInformation(
        file.bytes(at: body, count: FLACInformation.byteCount))
    else { throw .lost("head", of: "FLAC", file.path) }
    let audio = try endOfMetadata()
    var walk = FLACWalk(file, from: audio, information)
    try walk.run()
    guard walk.end > audio || (audio == file.byteCount && information.frames == 0) else {
      throw .noFrames(file.path)
    }
    var plan = RepairPlan(byteCount: file.byteCount)
    var faults: [String] = []
    if information.frames == 0, walk.frames > 0 {
      faults.append("the header left the length open")
    } else if information.frames != walk.frames {
      faults.append("the header said \(information.frames)")
    }
    let torn = file.byteCount - walk.end
    let isTag = try file.bytes(at: walk.end, count: 3) == Array("TAG".utf8) && torn == 128
    if torn > 0, !isTag {
      faults.append("\(torn.countedBytes) behind the last whole frame belonged to none")
      try plan.cut(at: walk.end, in: file)
    }
    // The MD5 digest of the samples stays right only where none was lost. A head without a length
    // has none yet.
    let isDigestRight =
      plan.isEmpty && information.frames == 0 || information.frames == walk.frames
    if !isDigestRight {
      let offset = body + FLACInformation.digestOffset
      try plan.set([UInt8](repeating: 0, count: 16), at: offset, in: file)
    }
    if !faults.isEmpty {
      let offset = body + FLACInformation.packedOffset
      try plan.set(information.packed(frames: walk.frames), at: offset, in: file)
    }
    if walk.damagedStretches > 0 {
      let places = walk.damagedStretches == 1 ? "one place" : "\(walk.damagedStretches) places"
      faults.append("it is damaged in \(places) before its end, which cannot be mended")
    }
    return RepairFinding(
      path: file.path, fileFormat: .flac, frames: walk.frames, sampleRate: information.sampleRate,
      headerFrames: information.frames, faults: faults, plan: plan)
  }

  /// Where the first frame should begin.
  private func endOfMetadata() throws(FileFailure) -> Int {
    var offset = start + 4
    while true {
      let head = try file.bytes(at: offset, count: 4)
      guard let kind = head.first, let size = head.integer(at: 1, 3, bigEndian: true),
        size <= file.byteCount - offset - 4
      else { throw .noFrames(file.path) }
      offset += 4 + size
      if kind & 0x80 != 0 { return offset }
    }
  }
}

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
  private var open = OpenFrames()
  private var last: FLACFrameHeader?
  /// The last frame that is whole, where the head of another showed its end.
  private var followed: OpenFrames.Start?

  init(_ file: DamagedFile, from start: Int, _ information: FLACInformation) {
    self.file = file
    end = start
    blockFrames = information.blockFrames
    channelCount = information.channelCount
    trial = FLACTrial(file, information)
  }

  /// Walks to the last frame: one look at each byte, and few more at the frame that nothing
  /// follows, however the file is made.
  ///
  /// A frame ends before the head of the next, where its checksum comes out: what is open is a head
  /// that no such end was found for yet.
  mutating func run() throws(FileFailure) {
    var checksums = RunningChecksum()
    var zeros = 0
    for offset in end..<max(end, file.byteCount) {
      let byte = try file.byte(at: offset)
      if byte == 0xFF, let header = try header(at: offset) {
        let mark = checksums.mark
        if let start = open.start(endingAt: offset, before: header, mark: mark, longest) {
          take(start, to: offset)
          followed = start
        }
        if follows(header) { open.add(header, at: offset, mark: mark) }
      }
      checksums.add(byte)
      zeros = byte == 0 ? zeros + 1 : 0
      if zeros == Self.settlingByteCount {
        try settle(offset + 1 - zeros, zeros, checksums.mark)
      }
    }
    try settle(file.byteCount - zeros, zeros, checksums.mark)
    try takeLast()
    guard let followed, end < file.byteCount else { return }
    // Zeros between the last frame and a head behind it that begins no whole frame: the checksum
    // comes out with them as well.
    let whole = end
    while end > followed.offset, try file.byte(at: end - 1) == 0 { end -= 1 }
    end += try trial.zeroCount(of: followed, before: end, atMost: whole - end)
  }

  /// Zeros in a row that no frame contains: where they follow one, the file was to be longer.
  private static let settlingByteCount = 65536

  /// Nothing but zeros follows from `offset` on: a frame that comes out there is whole, and may end
  /// with some of the zeros.
  private mutating func settle(_ offset: Int, _ zeros: Int, _ mark: UInt16) throws(FileFailure) {
    guard let start = open.start(endingAt: offset, mark: mark, longest) else { return }
    take(start, to: try offset + trial.zeroCount(of: start, before: offset, atMost: zeros))
    followed = nil
  }

  /// What follows the last frame, such as a tag of another program, begins no frame: the end of
  /// that frame is where its checksum comes out and it decodes.
  private mutating func takeLast() throws(FileFailure) {
    // Bytes that may be decoded in vain: few offsets come out but by malice.
    var triedByteCount = 1_048_576 + 4 * file.byteCount
    for start in open.next(to: end) {
      var register: UInt16 = 0
      var zeros = 0
      for offset in start.offset..<min(file.byteCount, start.offset + longest(start.header)) {
        let byte = try file.byte(at: offset)
        register = Checksum.flacFrame.adding(byte, to: register)
        zeros = byte == 0 ? zeros + 1 : 0
        // A checksum that comes out once does so at every zero that follows.
        guard register == 0, zeros <= FLACTrial.mostZeros,
          offset >= start.offset + start.header.byteCount
        else { continue }
        triedByteCount -= offset - start.offset
        guard triedByteCount >= 0 else { return }
        guard try trial.isWhole(start, to: offset + 1) else { continue }
        take(start, to: offset + 1)
        followed = nil
        return
      }
    }
  }

  private mutating func take(_ start: OpenFrames.Start, to frameEnd: Int) {
    if start.offset != end { damagedStretches += 1 }
    end = frameEnd
    open.removeAll()
    let header = start.header
    last = header
    if blockFrames == 0 { blockFrames = header.frames }
    let sample = header.isVariable ? header.number : header.number * blockFrames
    let first = firstSample ?? sample
    firstSample = first
    frames = sample + header.frames - first
  }

  private func header(at offset: Int) throws(FileFailure) -> FLACFrameHeader? {
    guard offset + 6 <= file.byteCount, try file.byte(at: offset + 1) & 0xFE == 0xF8 else {
      return nil
    }
    return try FLACFrameHeader(file.bytes(at: offset, count: FLACFrameHeader.longest))
  }

  private func follows(_ header: FLACFrameHeader) -> Bool {
    guard let last else { return true }
    return header.isVariable == last.isVariable && header.number >= last.nextNumber
  }

  /// Bytes of a frame at the most: twice what it takes without compression.
  private func longest(_ header: FLACFrameHeader) -> Int {
    1024 + 2 * header.frames * channelCount * 4
  }
}

/// The head of a FLAC frame (RFC 9639, 9.1).
struct FLACFrameHeader: Equatable {
  let byteCount: Int
  /// Samples of each channel in the frame.
  let frames: Int
  /// Whether `number` counts samples, not frames.
  let isVariable: Bool
  let number: Int

  /// What the frame behind this one is numbered.
  var nextNumber: Int { number + (isVariable ? frames : 1) }

  static let longest = 16

  /// Reads `bytes`; nil where they are no head of a frame, or a damaged one.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 6, bytes[0] == 0xFF, bytes[1] & 0xFE == 0xF8 else { return nil }
    let sizeCode = bytes[2] >> 4
    let rateCode = bytes[2] & 0xF
    guard sizeCode != 0, rateCode != 15, bytes[3] >> 4 <= 10, bytes[3] & 1 == 0,
      bytes[3] >> 1 & 7 != 3
    else { return nil }
    // The number is written as UTF-8 writes letters, in up to seven bytes.
    let ones = (~bytes[4]).leadingZeroBitCount
    guard ones != 1, ones <= 7 else { return nil }
    var offset = 4 + max(1, ones)
    guard bytes.count > offset else { return nil }
    var number = ones == 0 ? Int(bytes[4]) : Int(bytes[4]) & (0x7F >> ones)
    for byte in bytes[5..<max(5, offset)] {
      guard byte & 0xC0 == 0x80 else { return nil }
      number = number << 6 | Int(byte & 0x3F)
    }
    let sizeBytes = sizeCode == 6 ? 1 : sizeCode == 7 ? 2 : 0
    let rateBytes = rateCode == 12 ? 1 : rateCode == 13 || rateCode == 14 ? 2 : 0
    guard bytes.count > offset + sizeBytes + rateBytes else { return nil }
    switch sizeCode {
    case 1: frames = 192
    case 2...5: frames = 576 << Int(sizeCode - 2)
    case 6: frames = Int(bytes[offset]) + 1
    case 7: frames = Int(bytes[offset]) << 8 + Int(bytes[offset + 1]) + 1
    default: frames = 256 << Int(sizeCode - 8)
    }
    offset += sizeBytes + rateBytes
    guard Checksum.flacHeader.of(bytes[..<offset]) == bytes[offset] else { return nil }
    byteCount = offset + 1
    isVariable = bytes[1] & 1 == 1
    self.number = number
  }
}

/// Heads of FLAC frames for which no end was found yet, the newest some tens of thousands of them:
/// more than one or two is damage, or malice.
struct OpenFrames {
  struct Start {
    let offset: Int
    let header: FLACFrameHeader
    /// Value of the running checksum there.
    let mark: UInt16
  }

  /// Fields expected in the header behind a frame, and the checksum expected there.
  private struct End: Hashable {
    let mark: UInt16
    let number: Int
    let isVariable: Bool
  }

  private static let room = 32768
  private var starts: [Start] = []
  /// The oldest start that each end belongs to.
  private var places: [End: Int] = [:]

  mutating func add(_ header: FLACFrameHeader, at offset: Int, mark: UInt16) {
    if starts.count == Self.room { forgetHalf() }
    let start = Start(offset: offset, header: header, mark: mark)
    if places[Self.end(of: start)] == nil { places[Self.end(of: start)] = starts.count }
    starts.append(start)
  }

  mutating func removeAll() {
    starts.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// The start of the frame that should be at `offset`, where there is one, and the newest start.
  func next(to offset: Int) -> [Start] {
    let next = starts.first { $0.offset == offset }
    guard let newest = starts.last, newest.offset != next?.offset else {
      return next.map { [$0] } ?? []
    }
    return [newest] + (next.map { [$0] } ?? [])
  }

  /// The start of the frame that comes out at `offset`, where `header` begins the next.
  func start(
    endingAt offset: Int, before header: FLACFrameHeader, mark: UInt16,
    _ longest: (FLACFrameHeader) -> Int
  ) -> Start? {
    let end = End(mark: mark, number: header.number, isVariable: header.isVariable)
    guard let start = places[end].map({ starts[$0] }), Self.fits(start, offset, longest) else {
      return nil
    }
    return start
  }

  /// The start of the frame that comes out at `offset`, where nothing follows: the newest that
  /// fits, since from an older one that fits as well to it lies a whole frame, whose number was
  /// damaged.
  func start(
    endingAt offset: Int, mark: UInt16, _ longest: (FLACFrameHeader) -> Int
  ) -> Start? {
    starts.last { $0.mark == mark && Self.fits($0, offset, longest) }
  }

  private static func fits(
    _ start: Start, _ offset: Int, _ longest: (FLACFrameHeader) -> Int
  ) -> Bool {
    let byteCount = offset - start.offset
    return byteCount > start.header.byteCount && byteCount <= longest(start.header)
  }

  private static func end(of start: Start) -> End {
    End(
      mark: start.mark, number: start.header.nextNumber, isVariable: start.header.isVariable)
  }

  private mutating func forgetHalf() {
    starts.removeFirst(starts.count / 2)
    places.removeAll(keepingCapacity: true)
    for (index, start) in starts.enumerated() where places[Self.end(of: start)] == nil {
      places[Self.end(of: start)] = index
    }
  }
}
