/// The four bytes that begin a block of MPEG audio (ISO 11172-3 and 13818-3, clause 2.4.2.3).
///
/// The standard calls a block a frame; here a frame is one sample of each channel.
struct MPEGHeader: Equatable {
  let layer: Int
  let sampleRate: Int
  let channelCount: Int
  /// Bits a second.
  let bitRate: Int
  /// Bytes of the block, these four among them.
  let byteCount: Int
  /// Frames in the block.
  let frameCount: Int
  let isPadded: Bool
  /// Whether it is MPEG-1, and not one of the half rates.
  let isFullRate: Bool

  /// Bytes of a block at the least: MPEG-2 layer III, 8,000 bits and 24,000 frames a second.
  static let smallestByteCount = 24

  /// Frames of a block at the most.
  static let mostFrames = 1152

  /// What `word` says, the first byte highest; nil where it begins no block, or one of free format.
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
    frameCount = layer == 1 ? 384 : layer == 3 && !isFullRate ? 576 : Self.mostFrames
    let slotByteCount = layer == 1 ? 4 : 1
    let slots = frameCount / 8 * bitRate / sampleRate / slotByteCount
    byteCount = (slots + (isPadded ? 1 : 0)) * slotByteCount
  }

  /// Whether a block of `other` can follow in one stream: only bit rate and channels may differ.
  func isCompatible(with other: MPEGHeader) -> Bool {
    sampleRate == other.sampleRate && layer == other.layer && isFullRate == other.isFullRate
  }

  /// Bytes of a block on average at this bit rate, padding among them.
  var averageByteCount: Double { Double(frameCount / 8 * bitRate) / Double(sampleRate) }

  /// Bytes of a block at the most, at its rate and in layer III.
  var largestByteCount: Int {
    frameCount / 8 * 1000 * Self.kilobits(14, layer: 3, isFullRate: isFullRate) / sampleRate + 1
  }

  /// Blocks that must be decoded before one of which every bit counts: layer III takes bits from up
  /// to 511 bytes before, and the filters remember two blocks.
  var prerollBlockCount: Int { layer < 3 ? 2 : isFullRate ? 12 : 40 }

  /// Bytes between the header and the place where encoders leave a note in an empty block.
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

/// Numbers in a header, highest byte first; 0 behind its end.
extension UnsafeRawBufferPointer {
  func number(at offset: Int, byteCount: Int = 4) -> Int {
    guard offset >= 0, offset + byteCount <= count else { return 0 }
    return self[offset..<offset + byteCount].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The block's header at `offset`.
  func header(at offset: Int) -> MPEGHeader? {
    guard offset + 4 <= count else { return nil }
    return MPEGHeader(UInt32(number(at: offset)))
  }

  /// Whether `text` stands at `offset`.
  func holds(_ text: String, at offset: Int) -> Bool {
    offset >= 0 && offset + text.utf8.count <= count
      && self[offset..<offset + text.utf8.count].elementsEqual(text.utf8)
  }
}

/// Lengths, seek table and delays that an encoder notes in a first block without sound: the notes
/// of Xing, LAME and Fraunhofer (VBRI).
struct MPEGInformation: Equatable {
  /// Blocks that follow; nil where it does not say.
  private(set) var blockCount: Int?
  /// Bytes in all, of this block on.
  private(set) var byteCount: Int?
  /// Whether every block has the same bit rate.
  private(set) var isConstant = false
  /// For each hundredth of the time, how many 256ths of the bytes lie before it.
  private(set) var places: [UInt8]?
  /// Frames that the encoder put before the sound, and the decoder's own; 0 where it does not say.
  private(set) var leadingFrames = 0
  /// Frames behind the sound.
  private(set) var trailingFrames = 0

  /// Frames by which a decoder of layer III is late.
  private static let decoderDelay = 529

  /// Reads the note in `block`, a whole block; nil where it holds sound.
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
    // Behind comes LAME's own part: nine letters, twelve bytes, then both delays in twelve bits.
    guard offset + 24 <= block.count, block[offset] != 0 else { return }
    let delays = block.number(at: offset + 21, byteCount: 3)
    let (before, behind) = (delays >> 12, delays & 0xFFF)
    guard before > 0 || behind > 0 else { return }
    leadingFrames = before + Self.decoderDelay
    trailingFrames = max(0, behind - Self.decoderDelay)
  }

  /// Where in `byteCount` bytes the block lies that follows the share `time` of the time.
  func share(ofTime time: Double) -> Double? {
    guard let places else { return nil }
    let hundredths = min(99.999, max(0, time * 100))
    let index = Int(clamping: hundredths)
    let lower = Double(places[index])
    let upper = index < 99 ? Double(places[index + 1]) : 256
    return (lower + (upper - lower) * (hundredths - Double(index))) / 256
  }
}

/// Seek index: byte offsets of evenly spaced blocks, as far as was read, at most 1024 of them.
struct MPEGIndex {
  private static let room = 1024
  private var offsets: [Int] = []
  /// Blocks from place to place; doubles whenever the room is full.
  private var step = 1

  /// The index of blocks of which the first lies at `start`.
  init(start: Int) {
    offsets.reserveCapacity(Self.room)
    offsets.append(start)
  }

  /// Remembers that `block` lies at `offset`, where it is the next to be remembered.
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

  /// Whether `block` lies among those that were counted.
  func reaches(_ block: Int) -> Bool { block < offsets.count * step }

  /// The last place remembered at `block` or before.
  func place(before block: Int) -> (block: Int, offset: Int) {
    let index = max(0, min(block / step, offsets.count - 1))
    return (index * step, offsets[index])
  }
}
