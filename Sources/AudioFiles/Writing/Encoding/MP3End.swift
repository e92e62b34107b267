/// The end of an MP3 file that could not be written to its end: whole blocks, and an encoder header
/// that counts them.
///
/// The encoder writes the rest of a block together with the next one, so a file that was cut off
/// may end within a block, which some decoders play and others do not. When it is closed, its
/// encoder header counts the blocks that were refused, too, and the silence in the last of them.
struct MP3End {
  /// The number of frames by which the encoder delays the sound (`ENCDELAY` of LAME), and by which
  /// a decoder does.
  private static let encoderDelay = 576
  private static let decoderDelay = 529
  /// The most bytes that are read at once.
  private static let chunkByteCount = 1 << 16

  private let descriptor: Int32
  private let first: MPEGHeader
  /// The offset of the block of the encoder header, and whether it holds that header: it is empty
  /// until the file is closed.
  private let start: Int
  private let hasInformation: Bool
  /// The number of whole blocks of audio.
  private let blockCount: Int
  /// The offset at which the last whole block ends.
  let byteCount: Int

  /// Reads the blocks of the file; nil if it has none.
  init?(of descriptor: Int32) {
    let tag = OutputBytes.bytes(at: 0, count: ID3Head.byteCount, of: descriptor)
    let start = ID3Head(tag)?.byteCount ?? 0
    let head = OutputBytes.bytes(at: start, count: Self.chunkByteCount, of: descriptor)
    guard let first = head.mpegHeader(at: 0), first.byteCount <= head.count else { return nil }
    let block = head[..<first.byteCount]
    let hasInformation = block.withUnsafeBytes { MPEGInformation($0, first) != nil }
    let isEmpty = block.dropFirst(4).allSatisfy { $0 == 0 }
    var (place, blocks, bytes) = (start, 0, (first: start, chunk: head))
    while true {
      if place + 4 > bytes.first + bytes.chunk.count {
        bytes = (place, OutputBytes.bytes(at: place, count: Self.chunkByteCount, of: descriptor))
      }
      guard let header = bytes.chunk.mpegHeader(at: place - bytes.first),
        header.isCompatible(with: first)
      else { break }
      let end = place + header.byteCount
      // The last byte exists.
      if end > bytes.first + bytes.chunk.count,
        OutputBytes.bytes(at: end - 1, count: 1, of: descriptor).isEmpty
      {
        break
      }
      place = end
      blocks += 1
    }
    self.descriptor = descriptor
    self.first = first
    self.start = start
    self.hasInformation = hasInformation
    blockCount = hasInformation || isEmpty ? blocks - 1 : blocks
    byteCount = place
  }

  /// The number of frames of the sound that the blocks hold.
  var frameCount: Int {
    max(0, blockCount * first.frameCount - Self.encoderDelay - Self.decoderDelay)
  }

  /// Makes the encoder header of the closed file count the blocks that it holds, without silence
  /// after the sound. Does nothing if there is no such header.
  func writeInformation() throws(SystemError) {
    guard hasInformation else { return }
    var block = OutputBytes.bytes(at: start, count: first.byteCount, of: descriptor)
    let note = first.noteOffset
    let allFields = 15
    guard block.count > note + 156, block[note + 7] & 15 == UInt8(allFields) else { return }
    let wholeByteCount = byteCount - start
    if let old = block.withUnsafeBytes({ MPEGInformation($0, first) }),
      let oldBlocks = old.blockCount, let oldBytes = old.byteCount, oldBlocks > 0
    {
      // Each entry is the place of a hundredth of the duration, which is shorter now.
      let share = Double(blockCount) / Double(oldBlocks)
      let scale = 256 * Double(oldBytes) / Double(max(1, wholeByteCount))
      for index in 0..<100 {
        let place = (old.share(ofTime: Double(index) / 100 * share) ?? 0) * scale
        block[note + 16 + index] = UInt8(clamping: Int(clamping: place))
      }
    }
    block.replaceSubrange(note + 8..<note + 12, with: [UInt8](blockCount, 4, bigEndian: true))
    block.replaceSubrange(note + 12..<note + 16, with: [UInt8](wholeByteCount, 4, bigEndian: true))
    // The part of LAME.
    let part = note + 120
    let delays = Self.encoderDelay << 12 | Self.decoderDelay
    block.replaceSubrange(part + 21..<part + 24, with: [UInt8](delays, 3, bigEndian: true))
    block.replaceSubrange(part + 28..<part + 32, with: [UInt8](wholeByteCount, 4, bigEndian: true))
    let checksum = Int(Self.checksum(block[..<(part + 34)]))
    block.replaceSubrange(part + 34..<part + 36, with: [UInt8](checksum, 2, bigEndian: true))
    try OutputBytes.write(block, at: start, to: descriptor)
  }

  /// Returns the checksum that LAME stores after the bytes of its header: CRC-16 with the lowest
  /// bit first, from zero.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { register, byte in
      (0..<8).reduce(register ^ UInt16(byte)) { word, _ in
        word & 1 == 0 ? word >> 1 : word >> 1 ^ 0xA001
      }
    }
  }
}

extension [UInt8] {
  /// Returns the header of the block of MPEG audio at `offset`; nil if there is none.
  fileprivate func mpegHeader(at offset: Int) -> MPEGHeader? {
    integer(at: offset, 4, bigEndian: true).flatMap { MPEGHeader(UInt32(truncatingIfNeeded: $0)) }
  }
}
