/// A repair of FLAC: cuts the file after the last frame whose checksum is right, and writes the
/// number of samples into the header. A damaged frame in the middle is reported and left unchanged.
struct FLACRepair {
  private let file: DamagedFile
  /// The offset of `fLaC`.
  private let start: Int

  init(_ file: DamagedFile, at start: Int) {
    self.file = file
    self.start = start
  }

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if the header is
  /// unusable, or if no frame is whole.
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
      faults.append("\(torn.counted("byte")) behind the last whole frame belonged to none")
      try plan.cut(at: walk.end, in: file)
    }
    // The MD5 digest of the samples is right only if no sample was lost. A header without a length
    // has no digest yet.
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

  /// Returns the offset at which the first frame should begin.
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

/// A walk through the frames of a FLAC file that accepts those whose checksums are right.
struct FLACWalk {
  private let file: DamagedFile
  private let channelCount: Int
  private let trial: FLACTrial
  /// The number of samples of each channel up to the end of the last whole frame.
  private(set) var frames = 0
  /// The offset at which that frame ends.
  private(set) var end: Int
  /// The number of stretches without a valid frame that are followed by valid frames.
  private(set) var damagedStretches = 0
  /// The offset at which the first frame should begin.
  private let audioStart: Int
  private var firstSample: Int?
  private var blockFrames: Int
  private var open = OpenFrames()
  private var last: FLACFrameHeader?
  /// The last whole frame, if the header of another frame showed its end.
  private var followed: OpenFrames.Start?

  init(_ file: DamagedFile, from start: Int, _ information: FLACInformation) {
    self.file = file
    audioStart = start
    end = start
    blockFrames = information.blockFrames
    channelCount = information.channelCount
    trial = FLACTrial(file, information)
  }

  /// Walks to the last frame. Reads each byte once, and the bytes of the frame that nothing follows
  /// a few more times, whatever the file contains.
  ///
  /// A frame ends before the header of the next frame if its checksum is right there. A frame
  /// header is open as long as no such end was found for it.
  mutating func run() throws(FileFailure) {
    var checksums = RunningChecksum()
    var zeros = 0
    for offset in end..<max(end, file.byteCount) {
      let byte = try file.byte(at: offset)
      if byte == 0xFF, let header = try header(at: offset) {
        let mark = checksums.mark
        if let start = open.start(endingAt: offset, before: header, mark: mark, maximumByteCount) {
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
    // There may be zeros between the last frame and a following header that begins no whole frame:
    // the checksum is right with them as well.
    let whole = end
    while end > followed.offset, try file.byte(at: end - 1) == 0 { end -= 1 }
    end += try trial.zeroCount(of: followed, before: end, atMost: whole - end)
  }

  /// A number of consecutive zeros that no frame contains. If they follow a frame, the file was
  /// meant to be longer.
  private static let settlingByteCount = 65536

  /// Accepts a frame whose checksum is right at `offset`, after which there are only zeros: it is
  /// whole, and may end with some of the zeros.
  private mutating func settle(_ offset: Int, _ zeros: Int, _ mark: UInt16) throws(FileFailure) {
    guard let start = open.start(endingAt: offset, mark: mark, maximumByteCount) else { return }
    take(start, to: try offset + trial.zeroCount(of: start, before: offset, atMost: zeros))
    followed = nil
  }

  /// Finds the end of the last frame. The data after it, such as a tag of another program, begins
  /// no frame: the frame ends where its checksum is right and it can be decoded.
  private mutating func takeLast() throws(FileFailure) {
    // The number of bytes that may be decoded without success. Only a maliciously made file has
    // many offsets at which the checksum is right.
    var triedByteCount = 1_048_576 + 4 * file.byteCount
    for start in open.next(to: end) {
      var register: UInt16 = 0
      var zeros = 0
      for offset in start
        .offset..<min(file.byteCount, start.offset + maximumByteCount(start.header))
      {
        let byte = try file.byte(at: offset)
        register = Checksum.flacFrame.adding(byte, to: register)
        zeros = byte == 0 ? zeros + 1 : 0
        // A checksum that is right once is also right at every zero that follows.
        guard register == 0, zeros <= FLACTrial.maximumZeros,
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
    let first = firstSample ?? firstSample(of: header, sample, after: start.offset - audioStart)
    firstSample = first
    frames = sample + header.frames - first
  }

  /// Returns the number of the file's first sample. `header`, of the first whole frame, begins with
  /// `sample` and follows `byteCount` bytes of damaged audio. Players find each sample by its
  /// number, so those in the damaged bytes count, unless that many frames cannot be in them: the
  /// file is a part of a longer one.
  private func firstSample(
    of header: FLACFrameHeader, _ sample: Int, after byteCount: Int
  ) -> Int {
    let frames = header.isVariable ? (sample + 65534) / 65535 : header.number
    return frames <= byteCount / Self.minimumByteCount ? 0 : sample
  }

  /// The size of the shortest frame: a header, one sample of one bit, and a checksum.
  private static let minimumByteCount = 10

  private func header(at offset: Int) throws(FileFailure) -> FLACFrameHeader? {
    guard offset + 6 <= file.byteCount, try file.byte(at: offset + 1) & 0xFE == 0xF8 else {
      return nil
    }
    return try FLACFrameHeader(file.bytes(at: offset, count: FLACFrameHeader.maximumByteCount))
  }

  private func follows(_ header: FLACFrameHeader) -> Bool {
    guard let last else { return true }
    return header.isVariable == last.isVariable && header.number >= last.nextNumber
  }

  /// Returns the most bytes of a frame: twice its size without compression.
  private func maximumByteCount(_ header: FLACFrameHeader) -> Int {
    1024 + 2 * header.frames * channelCount * 4
  }
}

/// The header of a FLAC frame (RFC 9639, 9.1).
struct FLACFrameHeader: Equatable {
  let byteCount: Int
  /// The number of samples of each channel in the frame.
  let frames: Int
  /// Whether `number` counts samples instead of frames.
  let isVariable: Bool
  let number: Int

  /// The number of the frame after this one.
  var nextNumber: Int { number + (isVariable ? frames : 1) }

  static let maximumByteCount = 16

  /// Reads `bytes`; nil if they are not the header of a frame, or a damaged one.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 6, bytes[0] == 0xFF, bytes[1] & 0xFE == 0xF8 else { return nil }
    let sizeCode = bytes[2] >> 4
    let rateCode = bytes[2] & 0xF
    guard sizeCode != 0, rateCode != 15, bytes[3] >> 4 <= 10, bytes[3] & 1 == 0,
      bytes[3] >> 1 & 7 != 3
    else { return nil }
    // The number is encoded like a UTF-8 character, in up to seven bytes.
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

/// Headers of FLAC frames whose end was not found yet, limited to the newest 32,768 at most. More
/// than one or two of them are a sign of damage, or of malice.
struct OpenFrames {
  struct Start {
    let offset: Int
    let header: FLACFrameHeader
    /// The mark of the running checksum at this offset.
    let mark: UInt16
  }

  /// Fields expected in the header after a frame, and the checksum expected there.
  private struct End: Hashable {
    let mark: UInt16
    let number: Int
    let isVariable: Bool
  }

  private static let room = 32768
  private var starts: [Start] = []
  /// The oldest start for each end.
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

  /// Returns the newest start, and the start of the frame that should begin at `offset`, if there
  /// is one.
  func next(to offset: Int) -> [Start] {
    let next = starts.first { $0.offset == offset }
    guard let newest = starts.last, newest.offset != next?.offset else {
      return next.map { [$0] } ?? []
    }
    return [newest] + (next.map { [$0] } ?? [])
  }

  /// Returns the start of the frame whose checksum is right at `offset`, where `header` begins the
  /// next frame.
  func start(
    endingAt offset: Int, before header: FLACFrameHeader, mark: UInt16,
    _ maximumByteCount: (FLACFrameHeader) -> Int
  ) -> Start? {
    let end = End(mark: mark, number: header.number, isVariable: header.isVariable)
    guard let start = places[end].map({ starts[$0] }), Self.fits(start, offset, maximumByteCount)
    else {
      return nil
    }
    return start
  }

  /// Returns the start of the frame whose checksum is right at `offset`, where no frame follows:
  /// the newest one that fits. Between an older one that also fits and this one is a whole frame
  /// whose number was damaged.
  func start(
    endingAt offset: Int, mark: UInt16, _ maximumByteCount: (FLACFrameHeader) -> Int
  ) -> Start? {
    starts.last { $0.mark == mark && Self.fits($0, offset, maximumByteCount) }
  }

  private static func fits(
    _ start: Start, _ offset: Int, _ maximumByteCount: (FLACFrameHeader) -> Int
  ) -> Bool {
    let byteCount = offset - start.offset
    return byteCount > start.header.byteCount && byteCount <= maximumByteCount(start.header)
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
