/// The contents of the `fmt ` chunk of a file of the WAV family, or of Wave64.
struct WaveFormatChunk {
  /// The format tag. For the extensible format, it is the tag of the sample encoding.
  let kind: Int
  let channelCount: Int
  let sampleRate: Int
  /// The size in bytes of a frame, or of a compressed block of several frames.
  let blockByteCount: Int
  /// The number of bits per sample; 0 if the chunk ends before this field.
  let bitsPerSample: Int
  /// The format tag of the extensible format.
  static let extensible = 0xFFFE

  /// Parses the chunk. Returns nil if it is too short.
  init?(_ body: [UInt8], bigEndian: Bool = false) {
    guard let tag = body.integer(at: 0, 2, bigEndian: bigEndian),
      let channels = body.integer(at: 2, 2, bigEndian: bigEndian),
      let rate = body.integer(at: 4, 4, bigEndian: bigEndian),
      let block = body.integer(at: 12, 2, bigEndian: bigEndian)
    else { return nil }
    kind = tag == Self.extensible ? body.integer(at: 24, 2, bigEndian: bigEndian) ?? 1 : tag
    channelCount = channels
    sampleRate = rate
    blockByteCount = block
    bitsPerSample = body.integer(at: 14, 2, bigEndian: bigEndian) ?? 0
  }
}

/// The header of a FLAC file: sample rate, channels and length (STREAMINFO, RFC 9639, 8.2).
struct FLACInformation {
  let sampleRate: Int
  let channelCount: Int
  /// The number of frames (samples of each channel); 0 if it is unknown.
  let frames: Int
  /// The number of frames in every block except the last; 0 if the block size varies.
  let blockFrames: Int
  /// The 64 bits that contain the sample rate, the number of channels, the sample size and the
  /// length.
  private let packed: UInt64
  private let body: [UInt8]

  static let byteCount = 34
  /// The offset of the packed fields in the header. The MD5 digest follows them.
  static let packedOffset = 10
  static let digestOffset = 18

  init?(_ body: [UInt8]) {
    guard body.count == Self.byteCount,
      let packed = body.number(at: Self.packedOffset, 8, bigEndian: true),
      let minimum = body.integer(at: 0, 2, bigEndian: true),
      let maximum = body.integer(at: 2, 2, bigEndian: true)
    else { return nil }
    self.packed = packed
    self.body = body
    sampleRate = Int(packed >> 44)
    channelCount = Int(packed >> 41 & 7) + 1
    frames = Int(packed & Self.lengthMask)
    blockFrames = minimum == maximum ? maximum : 0
    // The format has 4 to 32 bits per sample. No decoder accepts fewer.
    guard sampleRate > 0, packed >> 36 & 0x1F >= 3 else { return nil }
  }

  /// Returns the packed fields with the length `frames`. A length of more than 36 bits is written
  /// as 0, which means unknown.
  func packed(frames: Int) -> [UInt8] {
    let length = frames <= Int(Self.lengthMask) ? UInt64(frames) : 0
    return [UInt8](
      Int(bitPattern: UInt(packed & ~Self.lengthMask | length)), 8, bigEndian: true)
  }

  /// Returns the header with the length `frames` and with a digest of zeros.
  func body(frames: Int) -> [UInt8] {
    body[..<Self.packedOffset] + packed(frames: frames)
      + [UInt8](repeating: 0, count: Self.byteCount - Self.digestOffset)
  }

  private static let lengthMask: UInt64 = 0xF_FFFF_FFFF
}

extension Collection<UInt8> {
  /// The number in the first four bytes, with seven bits each and the highest first, as in ID3.
  var syncSafeNumber: Int { prefix(4).reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
}

/// Reading and writing of whole numbers in the bytes of a header.
extension [UInt8] {
  /// Returns the number in the `count` bytes from `index` on; nil if the bytes end before.
  func number(at index: Int, _ count: Int, bigEndian: Bool) -> UInt64? {
    guard index >= 0, index + count <= self.count else { return nil }
    var number: UInt64 = 0
    for step in 0..<count {
      number = number << 8 | UInt64(self[bigEndian ? index + step : index + count - 1 - step])
    }
    return number
  }

  /// Returns the number in `count` bytes, at most 4, from `index` on; nil if the bytes end before.
  func integer(at index: Int, _ count: Int, bigEndian: Bool) -> Int? {
    number(at: index, count, bigEndian: bigEndian).map { Int($0) }
  }

  /// Creates the lowest `count` bytes of `number`.
  init(_ number: Int, _ count: Int, bigEndian: Bool) {
    let bits = UInt64(bitPattern: Int64(number))
    let places = bigEndian ? Array<Int>((0..<count).reversed()) : Array<Int>(0..<count)
    self = places.map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  /// Returns four bytes as text, such as `fmt `; nil if they are not printable characters.
  func identifier(at index: Int) -> String? {
    guard index >= 0, index + 4 <= count else { return nil }
    let letters = self[index..<index + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return nil }
    return String(letters.map { Character(Unicode.Scalar($0)) })
  }
}
