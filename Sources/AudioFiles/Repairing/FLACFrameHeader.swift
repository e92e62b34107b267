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
    var place = 4 + max(1, ones)
    guard bytes.count > place else { return nil }
    var number = ones == 0 ? Int(bytes[4]) : Int(bytes[4]) & (0x7F >> ones)
    for byte in bytes[5..<max(5, place)] {
      guard byte & 0xC0 == 0x80 else { return nil }
      number = number << 6 | Int(byte & 0x3F)
    }
    let sizeBytes = sizeCode == 6 ? 1 : sizeCode == 7 ? 2 : 0
    let rateBytes = rateCode == 12 ? 1 : rateCode == 13 || rateCode == 14 ? 2 : 0
    guard bytes.count > place + sizeBytes + rateBytes else { return nil }
    switch sizeCode {
    case 1: frames = 192
    case 2...5: frames = 576 << Int(sizeCode - 2)
    case 6: frames = Int(bytes[place]) + 1
    case 7: frames = Int(bytes[place]) << 8 + Int(bytes[place + 1]) + 1
    default: frames = 256 << Int(sizeCode - 8)
    }
    place += sizeBytes + rateBytes
    guard Checksum.flacHeader.of(bytes[..<place]) == bytes[place] else { return nil }
    byteCount = place + 1
    isVariable = bytes[1] & 1 == 1
    self.number = number
  }
}
