/// Contents of the chunk `fmt ` of WAV or Wave64.
struct WaveFormatChunk {
  /// The format's tag; where that is extensible, the one that stands for the samples.
  let kind: Int
  let channelCount: Int
  let sampleRate: Int
  /// Bytes of a frame, or of a block of several.
  let blockByteCount: Int
  /// 0 where the chunk ends before.
  let bitsPerSample: Int

  /// nil where it ends too early.
  init?(_ body: [UInt8]) {
    guard let tag = body.integer(at: 0, 2, bigEndian: false),
      let channels = body.integer(at: 2, 2, bigEndian: false),
      let rate = body.integer(at: 4, 4, bigEndian: false),
      let block = body.integer(at: 12, 2, bigEndian: false)
    else { return nil }
    kind = tag == 0xFFFE ? body.integer(at: 24, 2, bigEndian: false) ?? 1 : tag
    channelCount = channels
    sampleRate = rate
    blockByteCount = block
    bitsPerSample = body.integer(at: 14, 2, bigEndian: false) ?? 0
  }
}

/// Header of a FLAC file: rate, channels and length (STREAMINFO, RFC 9639, 8.2).
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
    // The format has 4 to 32 bits a sample: no decoder takes fewer.
    guard sampleRate > 0, packed >> 36 & 0x1F >= 3 else { return nil }
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

extension Collection<UInt8> {
  /// What the first four bytes say, of seven bits each and the highest first, as ID3 has them.
  var syncSafeNumber: Int { prefix(4).reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
}

/// Whole numbers in the bytes of a header.
extension [UInt8] {
  /// The number in `count` bytes from `index` on; nil where the bytes end before.
  func number(at index: Int, _ count: Int, bigEndian: Bool) -> UInt64? {
    guard index >= 0, index + count <= self.count else { return nil }
    var number: UInt64 = 0
    for step in 0..<count {
      number = number << 8 | UInt64(self[bigEndian ? index + step : index + count - 1 - step])
    }
    return number
  }

  /// A small number, in `count` bytes at most 4.
  func integer(at index: Int, _ count: Int, bigEndian: Bool) -> Int? {
    number(at: index, count, bigEndian: bigEndian).map { Int($0) }
  }

  /// `number` in its lowest `count` bytes.
  init(_ number: Int, _ count: Int, bigEndian: Bool) {
    let bits = UInt64(bitPattern: Int64(number))
    let places = bigEndian ? Array<Int>((0..<count).reversed()) : Array<Int>(0..<count)
    self = places.map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  /// The text of four bytes, such as `fmt `; nil where they are no printable letters.
  func identifier(at index: Int) -> String? {
    guard index >= 0, index + 4 <= count else { return nil }
    let letters = self[index..<index + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return nil }
    return String(letters.map { Character(Unicode.Scalar($0)) })
  }
}
