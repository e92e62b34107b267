/// What the head of a FLAC file says about the whole (STREAMINFO, RFC 9639, 8.2).
struct FLACInformation {
  let sampleRate: Int
  let channelCount: Int
  /// Samples of each channel; 0 where it is not known.
  let frames: Int
  /// Samples in every block but the last; 0 where they vary.
  let blockFrames: Int
  /// The 64 bits that hold rate, channels, sample size and length.
  private let packed: UInt64
  private let body: [UInt8]

  static let byteCount = 34
  /// Where in it the packed figures begin, and the MD5 behind them.
  static let packedOffset = 10
  static let digestOffset = 18

  init?(_ body: [UInt8]) {
    guard body.count == Self.byteCount,
      let packed = body.number(at: Self.packedOffset, 8, bigEndian: true),
      let least = body.integer(at: 0, 2, bigEndian: true),
      let most = body.integer(at: 2, 2, bigEndian: true)
    else { return nil }
    self.packed = packed
    self.body = body
    sampleRate = Int(packed >> 44)
    channelCount = Int(packed >> 41 & 7) + 1
    frames = Int(packed & Self.lengthMask)
    blockFrames = least == most ? most : 0
    guard sampleRate > 0 else { return nil }
  }

  /// The packed figures with another length; one beyond 36 bits is told as unknown.
  func packed(frames: Int) -> [UInt8] {
    let length = frames <= Int(Self.lengthMask) ? UInt64(frames) : 0
    return [UInt8](
      Int(bitPattern: UInt(packed & ~Self.lengthMask | length)), 8, bigEndian: true)
  }

  /// The head with another length and without a digest.
  func body(frames: Int) -> [UInt8] {
    body[..<Self.packedOffset] + packed(frames: frames)
      + [UInt8](repeating: 0, count: Self.byteCount - Self.digestOffset)
  }

  private static let lengthMask: UInt64 = 0xF_FFFF_FFFF
}
