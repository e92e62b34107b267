/// What an encoder says about the whole in a first block without sound: the notes of Xing, LAME and
/// Fraunhofer (VBRI).
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
