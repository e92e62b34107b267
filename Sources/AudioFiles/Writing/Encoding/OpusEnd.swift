import Glibc

/// The completion of an Ogg Opus file that libsndfile writes.
///
/// The encoder delays the sound by its look-ahead. At the end, libsndfile encodes the delayed rest
/// in packets that are too short, and the last 4 to 7 ms are lost or fade out. Therefore, the
/// encoder receives silence after the last frame until whole packets hold all of the sound, and the
/// packets after them are cut off. A program killed in between leaves a readable file that ends in
/// this silence.
struct OpusEnd {
  private let descriptor: Int32
  private let sampleRate: Int
  /// The offset of the first page that is not in the file yet.
  private let offset: Int
  /// The position, in frames at 48 kHz, at the end of the page before.
  private let position: Int

  /// Reads the present end of the file, at the descriptor's offset.
  init(of descriptor: Int32, sampleRate: Int) {
    self.descriptor = descriptor
    self.sampleRate = sampleRate
    offset = lseek(descriptor, 0, SEEK_CUR)
    position = OpusLength.position(in: descriptor)
  }

  /// Returns the number of frames of silence to append to `frames` frames, so that all of them are
  /// in packets of the usual length. One more packet keeps the short packets away from them.
  func paddingFrameCount(after frames: Int) -> Int {
    guard frames > 0 else { return 0 }
    let packet = sampleRate / 50
    // 4 ms for the choice of the mode, and 2.5 ms for the overlap of the windows.
    let lookAhead = sampleRate / 250 + sampleRate / 400
    return (frames + lookAhead + packet - 1) / packet * packet + packet - frames
  }

  /// Ends the complete file after its first `frames` frames. Returns the error if this fails; then
  /// the file still ends in silence.
  func cutOff(after frames: Int) -> SystemError? {
    guard frames > 0, let skipped = OpusLength.skippedFrameCount(in: descriptor) else {
      return nil
    }
    let end = skipped + frames * (48000 / sampleRate)
    var (offset, position) = (offset, position)
    while let page = OpusPage(at: offset, of: descriptor) {
      if let reached = page.position {
        if reached >= end {
          let last = page.ending(at: end, from: position)
          do throws(SystemError) {
            try OutputBytes.write(last, at: offset, to: descriptor)
          } catch {
            return error
          }
          OutputBytes.cut(descriptor, at: offset + last.count)
          return nil
        }
        position = reached
      }
      offset += page.byteCount
    }
    return nil
  }
}

/// The number of frames in an Ogg Opus file that is being written, read from its pages: libsndfile
/// does not report how many of the accepted frames are not in a page yet.
enum OpusLength {
  /// Returns the number of frames at `sampleRate` up to the end of the last page; 0 if there is no
  /// audio yet.
  static func frameCount(in descriptor: Int32, sampleRate: Int) -> Int {
    guard let skipped = skippedFrameCount(in: descriptor) else { return 0 }
    let frames = max(0, position(in: descriptor) - skipped)
    return frames / 48000 * sampleRate + frames % 48000 * sampleRate / 48000
  }

  /// Returns the number of frames at 48 kHz at the beginning that are not played (pre-skip); nil if
  /// there is no header yet.
  static func skippedFrameCount(in descriptor: Int32) -> Int? {
    let head = OutputBytes.bytes(at: 0, count: 47, of: descriptor)
    // The first packet is alone in the first page and has a known length.
    guard head.count == 47, head[28...].starts(with: Array("OpusHead".utf8)) else { return nil }
    return head.integer(at: 38, 2, bigEndian: false)
  }

  /// Returns the position at the end of the last page, up to the descriptor's offset; 0 if there is
  /// none. Opus counts at 48 kHz, whatever the sample rate of the input (RFC 7845, 4).
  static func position(in descriptor: Int32) -> Int {
    let start = max(0, lseek(descriptor, 0, SEEK_CUR) - OggPageHead.maximumPageByteCount)
    let end = OutputBytes.bytes(at: start, count: OggPageHead.maximumPageByteCount, of: descriptor)
    let pages = stride(from: end.count - OggPageHead.byteCount, through: 0, by: -1).lazy.filter {
      offset in
      end[offset...].starts(with: Array("OggS".utf8))
    }
    return pages.compactMap { OggPageHead.position(in: end, at: $0) }.first ?? 0
  }
}

/// A page of an Ogg Opus file that is being written.
private struct OpusPage {
  private let bytes: [UInt8]
  private let segmentCount: Int

  /// Reads the page at `offset`; nil if there is none.
  init?(at offset: Int, of descriptor: Int32) {
    let head = OutputBytes.bytes(at: offset, count: OggPageHead.byteCount + 255, of: descriptor)
    guard head.count > OggPageHead.byteCount, head.identifier(at: 0) == "OggS" else { return nil }
    segmentCount = Int(head[OggPageHead.segmentCountOffset])
    let byteCount = OggPageHead.pageByteCount(head[...])
    bytes = OutputBytes.bytes(at: offset, count: byteCount, of: descriptor)
    guard bytes.count == byteCount else { return nil }
  }

  var byteCount: Int { bytes.count }

  /// The position at the end of the page; nil if no packet ends in it.
  var position: Int? { OggPageHead.position(in: bytes, at: 0) }

  /// Returns this page, which begins at the position `start`, as the last page of its stream, with
  /// the packets up to the one that contains the frame before the position `end`.
  func ending(at end: Int, from start: Int) -> [UInt8] {
    let body = OggPageHead.byteCount + segmentCount
    // The first segment of a page may continue a packet of the page before, of the usual 20 ms.
    var duration = bytes[OggPageHead.flagsOffset] & OggPageHead.continues == 0 ? nil : 960
    var (position, offset, segments) = (start, body, 0)
    for length in bytes[OggPageHead.byteCount..<body] where position < end {
      segments += 1
      duration = duration ?? Self.frameCount(ofPacket: bytes[offset...])
      offset += Int(length)
      // A packet ends with the first segment that is not full.
      guard length < 255 else { continue }
      position += duration ?? 0
      duration = nil
    }
    var page = Array(bytes[..<(OggPageHead.byteCount + segments)] + bytes[body..<offset])
    page[OggPageHead.flagsOffset] |= OggPageHead.ends
    page[OggPageHead.segmentCountOffset] = UInt8(segments)
    let field = OggPageHead.positionOffset..<OggPageHead.positionOffset + 8
    page.replaceSubrange(field, with: [UInt8](end, 8, bigEndian: false))
    return OggPageHead.checked(page)
  }

  /// Returns the number of frames at 48 kHz in a packet, from its first bytes (RFC 6716, 3).
  private static func frameCount(ofPacket packet: ArraySlice<UInt8>) -> Int {
    guard let first = packet.first else { return 0 }
    let configuration = Int(first >> 3)
    let frame =
      switch configuration {
      case ..<12: [480, 960, 1920, 2880][configuration % 4]
      case ..<16: [480, 960][configuration % 2]
      default: [120, 240, 480, 960][configuration % 4]
      }
    return switch first & 3 {
    case 0: frame
    case 3: frame * Int((packet.dropFirst().first ?? 0) & 63)
    default: 2 * frame
    }
  }
}
