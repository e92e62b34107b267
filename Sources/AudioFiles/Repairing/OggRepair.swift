/// A repair of Ogg Vorbis and Opus: cuts the file after the last whole page in which a packet ends,
/// and marks this page as the last. Pages that are lost before it are reported.
struct OggRepair {
  private let file: DamagedFile
  /// The number of frames in the complete links of a chain.
  private var frames = 0
  private var lostPages = 0
  private var stream: OggStream?
  private var streamSerial: UInt32 = 0
  private var foreignStreams: Set<UInt32> = []
  /// The link before the last one, if it has audio, and the offset at which it ends.
  private var before: (stream: OggStream, end: Int)?
  /// The offset at which the last page that belongs to a stream ends.
  private var end = 0
  /// The number of bytes that may still be read of pages that prove invalid. Each is read whole;
  /// only a maliciously made file has many that overlap.
  private var damagedByteCount: Int

  init(_ file: DamagedFile) {
    self.file = file
    damagedByteCount = 1_048_576 + 4 * file.byteCount
  }

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if there is neither
  /// Vorbis nor Opus, or no audio in it.
  mutating func finding() throws(FileFailure) -> RepairFinding {
    var offset = 0
    while let page = try nextPage(from: offset) {
      try add(page)
      offset = page.end
    }
    if let before, let last = stream, last.frames == 0, !last.lastPage.ends {
      // Decoders refuse a chain whose last link ends within its headers.
      (stream, end) = before
    } else {
      closeLink()
    }
    guard let stream else { throw .noSoundFile(file.path) }
    guard frames > 0 || stream.lastPage.ends else { throw .noFrames(file.path) }
    var plan = RepairPlan(byteCount: file.byteCount)
    var faults: [String] = []
    let torn = file.byteCount - end
    if torn > 0 {
      faults.append("\(torn.counted("byte")) behind the last whole page belonged to none")
      try plan.cut(at: end, in: file)
    }
    let last = stream.lastPage
    if !last.ends {
      faults.append("the last page did not say that the sound ends")
      try plan.set(last.endingHead(file), at: last.start, in: file)
    }
    if lostPages > 0 {
      let pages = lostPages == 1 ? "1 page is" : "\(lostPages) pages are"
      faults.append("\(pages) lost or damaged before the end, which cannot be mended")
    }
    return RepairFinding(
      path: file.path, fileFormat: stream.fileFormat, frames: frames,
      sampleRate: stream.sampleRate, headerFrames: nil, faults: faults, plan: plan)
  }

  private mutating func add(_ page: OggPage) throws(FileFailure) {
    if page.begins {
      guard let new = try OggStream(file, beginningWith: page) else {
        foreignStreams.insert(page.serial)
        return
      }
      closeLink()
      if let stream, stream.frames > 0 { before = (stream, end) }
      stream = new
      streamSerial = page.serial
      end = page.end
    } else if page.serial == streamSerial, stream != nil {
      stream?.add(page)
      if page.granule != nil { end = page.end }
    } else if foreignStreams.contains(page.serial) {
      end = max(end, page.end)
    }
  }

  private mutating func closeLink() {
    frames = min(frames + (stream?.frames ?? 0), FileBounds.frameCount)
    lostPages += stream?.lostPages ?? 0
  }

  /// Returns the next whole page from `offset` on.
  private mutating func nextPage(from offset: Int) throws(FileFailure) -> OggPage? {
    var offset = offset
    while offset + OggPageHead.byteCount <= file.byteCount {
      if try file.byte(at: offset) == 0x4F {
        let before = file.requestedByteCount
        if let page = try OggPage(file, at: offset) { return page }
        damagedByteCount -= file.requestedByteCount - before
        guard damagedByteCount >= 0 else {
          throw FileFailure(
            .unusableContents, "\(file.path) is full of torn pages, and cannot be mended.",
            hint: "Look for another copy of it.")
        }
      }
      offset += 1
    }
    return nil
  }
}

/// A whole page of an Ogg file (RFC 3533, 6) whose checksum is right.
struct OggPage {
  let start: Int
  let end: Int
  let flags: UInt8
  /// The position in the audio at the end of the page; nil if no packet ends in it.
  let granule: Int?
  let serial: UInt32
  let sequence: UInt32
  /// The offset at which its packets begin.
  let body: Int

  var begins: Bool { flags & OggPageHead.begins != 0 }
  var ends: Bool { flags & OggPageHead.ends != 0 }

  /// Reads the page at `start`; nil if there is none, or a damaged or torn one.
  init?(_ file: DamagedFile, at start: Int) throws(FileFailure) {
    let head = try file.bytes(at: start, count: OggPageHead.byteCount)
    guard head.identifier(at: 0) == "OggS", head.count == OggPageHead.byteCount, head[4] == 0,
      let granule = head.number(at: OggPageHead.positionOffset, 8, bigEndian: false),
      let serial = head.number(at: 14, 4, bigEndian: false),
      let sequence = head.number(at: 18, 4, bigEndian: false),
      let checksum = head.number(at: OggPageHead.checksumOffset, 4, bigEndian: false)
    else { return nil }
    let segments = Int(head[OggPageHead.segmentCountOffset])
    let lengths = try file.bytes(at: start + OggPageHead.byteCount, count: segments)
    body = start + OggPageHead.byteCount + segments
    end = lengths.reduce(body) { $0 + Int($1) }
    guard lengths.count == segments, end <= file.byteCount else { return nil }
    let bytes = try file.bytes(at: start, count: end - start)
    guard OggPageHead.checksum(bytes) == UInt32(checksum) else { return nil }
    self.start = start
    flags = head[OggPageHead.flagsOffset]
    self.granule = Int64(bitPattern: granule) == -1 ? nil : Int(Int64(bitPattern: granule))
    self.serial = UInt32(serial)
    self.sequence = UInt32(sequence)
  }

  /// Returns the first bytes of the page, changed so that it is the last page of its stream.
  func endingHead(_ file: DamagedFile) throws(FileFailure) -> [UInt8] {
    var bytes = try file.bytes(at: start, count: end - start)
    bytes[OggPageHead.flagsOffset] |= OggPageHead.ends
    return Array(OggPageHead.checked(bytes)[..<OggPageHead.byteCount])
  }
}

/// One stream of an Ogg file: Vorbis or Opus from its first page to its last.
struct OggStream {
  let fileFormat: FileFormat
  let sampleRate: Int
  /// The number of frames at the beginning that are not played (pre-skip).
  private let skipped: Int
  /// The last page in which a packet ends.
  private(set) var lastPage: OggPage
  private var sequence: UInt32
  private(set) var lostPages = 0

  /// Starts the stream whose first page is `page`; nil if it is neither Vorbis nor Opus.
  init?(_ file: DamagedFile, beginningWith page: OggPage) throws(FileFailure) {
    let packet = try file.bytes(at: page.body, count: 30)
    if packet.starts(with: [1] + Array("vorbis".utf8)),
      let rate = packet.integer(at: 12, 4, bigEndian: false), rate > 0
    {
      fileFormat = .ogg
      sampleRate = rate
      skipped = 0
    } else if packet.starts(with: Array("OpusHead".utf8)),
      let skip = packet.integer(at: 10, 2, bigEndian: false)
    {
      // Opus counts at 48 kHz, whatever the sample rate of the input (RFC 7845, 4).
      fileFormat = .opus
      sampleRate = 48000
      skipped = skip
    } else {
      return nil
    }
    lastPage = page
    sequence = page.sequence
  }

  /// The number of frames up to the end of the last page.
  var frames: Int {
    let offset = min(max(0, lastPage.granule ?? 0), FileBounds.frameCount)
    return max(0, offset - skipped)
  }

  mutating func add(_ page: OggPage) {
    let step = Int(page.sequence) - Int(sequence)
    if step > 1, step < 1_000_000 { lostPages += step - 1 }
    sequence = page.sequence
    if page.granule != nil { lastPage = page }
  }
}
