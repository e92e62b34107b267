/// The four-byte header of a block of MPEG audio (ISO 11172-3 and 13818-3, clause 2.4.2.3).
///
/// The standard calls a block a frame. In this library, a frame is one sample of each channel.
struct MPEGHeader: Equatable {
  let layer: Int
  let sampleRate: Int
  let channelCount: Int
  /// The bit rate in bits per second.
  let bitRate: Int
  /// The size of the block in bytes, including the header.
  let byteCount: Int
  /// The number of frames in the block.
  let frameCount: Int
  let isPadded: Bool
  /// Whether the block is MPEG-1, and not MPEG-2 or 2.5 with lower sample rates.
  let isFullRate: Bool

  /// The size of the smallest block in bytes: MPEG-2 layer III at 8,000 bit/s and 24,000 Hz.
  static let smallestByteCount = 24

  /// The maximum number of frames in a block.
  static let maximumFrames = 1152

  /// Parses `word`, whose highest byte is the first. Returns nil if it is not a block header, or if
  /// the block is in free format.
  init?(_ word: UInt32) {
    let version = Int(word >> 19 & 3)
    let layerCode = Int(word >> 17 & 3)
    let bitRateCode = Int(word >> 12 & 15)
    let rateCode = Int(word >> 10 & 3)
    guard word >> 21 == 0x7FF, version != 1, layerCode != 0, (1...14).contains(bitRateCode),
      rateCode != 3, word & 3 != 2
    else { return nil }
    layer = 4 - layerCode
    isFullRate = version == 3
    let halvings = version == 3 ? 0 : version == 2 ? 1 : 2
    sampleRate = [44100, 48000, 32000][rateCode] >> halvings
    bitRate = 1000 * Self.kilobits(bitRateCode, layer: layer, isFullRate: isFullRate)
    channelCount = word >> 6 & 3 == 3 ? 1 : 2
    isPadded = word >> 9 & 1 == 1
    frameCount = layer == 1 ? 384 : layer == 3 && !isFullRate ? 576 : Self.maximumFrames
    let slotByteCount = layer == 1 ? 4 : 1
    let slots = frameCount / 8 * bitRate / sampleRate / slotByteCount
    byteCount = (slots + (isPadded ? 1 : 0)) * slotByteCount
  }

  /// Returns whether a block of `other` can follow in the same stream: only the bit rate and the
  /// channels may differ.
  func isCompatible(with other: MPEGHeader) -> Bool {
    sampleRate == other.sampleRate && layer == other.layer && isFullRate == other.isFullRate
  }

  /// The average size of a block in bytes at this bit rate, including padding.
  var averageByteCount: Double { Double(frameCount / 8 * bitRate) / Double(sampleRate) }

  /// The size of the largest block in bytes, at this sample rate and in layer III.
  var largestByteCount: Int {
    frameCount / 8 * 1000 * Self.kilobits(14, layer: 3, isFullRate: isFullRate) / sampleRate + 1
  }

  /// The number of blocks to decode before a block so that its samples are exact. Layer III uses up
  /// to 511 bytes of earlier blocks, and the filters depend on two earlier blocks.
  var prerollBlockCount: Int { layer < 3 ? 2 : isFullRate ? 12 : 40 }

  /// The offset in the block of the encoder header, which is stored in a block without audio.
  var noteOffset: Int {
    4 + (isFullRate ? (channelCount == 1 ? 17 : 32) : (channelCount == 1 ? 9 : 17))
  }

  private static func kilobits(_ code: Int, layer: Int, isFullRate: Bool) -> Int {
    switch (isFullRate, layer) {
    case (true, 1): code * 32
    case (true, 2): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384][code - 1]
    case (true, _): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][code - 1]
    case (false, 1): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256][code - 1]
    case (false, _): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][code - 1]
    }
  }
}

/// Reading of big-endian numbers and headers. Numbers after the end are 0.
extension UnsafeRawBufferPointer {
  func number(at offset: Int, byteCount: Int = 4) -> Int {
    guard offset >= 0, offset + byteCount <= count else { return 0 }
    return self[offset..<offset + byteCount].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns the block header at `offset`; nil if there is none.
  func header(at offset: Int) -> MPEGHeader? {
    guard offset + 4 <= count else { return nil }
    return MPEGHeader(UInt32(number(at: offset)))
  }

  /// Returns whether the bytes at `offset` are `text`.
  func holds(_ text: String, at offset: Int) -> Bool {
    offset >= 0 && offset + text.utf8.count <= count
      && self[offset..<offset + text.utf8.count].elementsEqual(text.utf8)
  }
}

/// The lengths, seek table and delays in the encoder header, which is stored in a first block
/// without audio by Xing, LAME and Fraunhofer (VBRI) encoders.
struct MPEGInformation: Equatable {
  /// The number of blocks that follow; nil if it is not given.
  private(set) var blockCount: Int?
  /// The total number of bytes, including this block.
  private(set) var byteCount: Int?
  /// Whether all blocks have the same bit rate.
  private(set) var isConstant = false
  /// The seek table: for each percent of the duration, the position in units of 1/256 of the bytes.
  private(set) var places: [UInt8]?
  /// The number of frames before the audio, including the decoder delay; 0 if it is not given.
  private(set) var leadingFrames = 0
  /// The number of frames after the audio.
  private(set) var trailingFrames = 0

  /// The delay of a layer III decoder in frames.
  private static let decoderDelay = 529

  /// Parses the encoder header in the complete block `block`. Returns nil if the block contains
  /// audio.
  init?(_ block: UnsafeRawBufferPointer, _ header: MPEGHeader) {
    guard header.layer == 3 else { return nil }
    if block.holds("VBRI", at: 36) {
      byteCount = block.number(at: 46)
      blockCount = block.number(at: 50)
      return
    }
    let start = header.noteOffset
    isConstant = block.holds("Info", at: start)
    guard isConstant || block.holds("Xing", at: start) else { return nil }
    let flags = block.number(at: start + 4)
    var offset = start + 8
    if flags & 1 != 0 {
      blockCount = block.number(at: offset)
      offset += 4
    }
    if flags & 2 != 0 {
      byteCount = block.number(at: offset)
      offset += 4
    }
    if flags & 4 != 0 {
      if offset + 100 <= block.count { places = Array(block[offset..<offset + 100]) }
      offset += 100
    }
    if flags & 8 != 0 { offset += 4 }
    // The LAME part follows: a name of nine bytes, twelve bytes, then two delays of twelve bits.
    guard offset + 24 <= block.count, block[offset] != 0 else { return }
    let delays = block.number(at: offset + 21, byteCount: 3)
    let (before, behind) = (delays >> 12, delays & 0xFFF)
    guard before > 0 || behind > 0 else { return }
    leadingFrames = before + Self.decoderDelay
    trailingFrames = max(0, behind - Self.decoderDelay)
  }

  /// Returns the position, as a fraction of all bytes, for `time`, a fraction of the duration.
  /// Returns nil if there is no seek table.
  func share(ofTime time: Double) -> Double? {
    guard let places else { return nil }
    let hundredths = min(99.999, max(0, time * 100))
    let index = Int(clamping: hundredths)
    let lower = Double(places[index])
    let upper = index < 99 ? Double(places[index + 1]) : 256
    return (lower + (upper - lower) * (hundredths - Double(index))) / 256
  }
}

/// A seek index: the byte offsets of evenly spaced blocks in the part read so far, at most 1024.
struct MPEGIndex {
  private static let room = 1024
  private var offsets: [Int] = []
  /// The number of blocks between two entries. It doubles whenever the index is full.
  private var step = 1

  /// Creates an index whose first block is at `start`.
  init(start: Int) {
    offsets.reserveCapacity(Self.room)
    offsets.append(start)
  }

  /// Stores the offset of `block` if it is the next block to store.
  mutating func note(_ block: Int, at offset: Int) {
    guard block == offsets.count * step else { return }
    if offsets.count == Self.room {
      for index in 0..<Self.room / 2 { offsets[index] = offsets[2 * index] }
      offsets.removeLast(Self.room / 2)
      step *= 2
      guard block == offsets.count * step else { return }
    }
    offsets.append(offset)
  }

  /// Returns whether `block` is in the part that was counted.
  func reaches(_ block: Int) -> Bool { block < offsets.count * step }

  /// Returns the last stored block at or before `block`, and its offset.
  func place(before block: Int) -> (block: Int, offset: Int) {
    let index = max(0, min(block / step, offsets.count - 1))
    return (index * step, offsets[index])
  }
}
