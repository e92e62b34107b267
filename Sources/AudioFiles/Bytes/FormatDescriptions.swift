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
  /// The number of frames in a compressed block; 0 if the chunk ends before this field.
  let blockFrames: Int
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
    blockFrames = body.integer(at: 18, 2, bigEndian: bigEndian) ?? 0
  }
}

/// The contents of the common chunk `COMM` of AIFF and AIFF-C (Apple, AIFF-C, 1991).
struct AIFFCommonChunk {
  let channelCount: Int
  let frames: Int
  let sampleRate: Int
  /// The encoding of the samples. AIFF has only `NONE`, without a field for it.
  let compression: String
  let sampleByteCount: Int

  /// The number of bytes in a frame.
  var frameByteCount: Int { channelCount * sampleByteCount }

  /// The number of bytes of the chunk up to the name of the compression.
  static func byteCount(isCompressed: Bool) -> Int { isCompressed ? 22 : 18 }

  /// Parses the chunk of AIFF-C if `isCompressed` is true, otherwise that of AIFF. Returns nil if
  /// it is too short or not valid, or if its encoding is unknown.
  init?(_ body: [UInt8], isCompressed: Bool) {
    guard let channels = body.integer(at: 0, 2, bigEndian: true), channels > 0,
      let frames = body.integer(at: 2, 4, bigEndian: true),
      let bits = body.integer(at: 6, 2, bigEndian: true), (1...64).contains(bits),
      let rate = Self.extended(body), (1...Double(Int32.max)).contains(rate)
    else { return nil }
    compression = isCompressed ? body.identifier(at: 18) ?? "" : "NONE"
    switch compression {
    case "NONE", "twos", "sowt", "raw ", "in24", "in32", "42ni", "23ni":
      sampleByteCount = (bits + 7) / 8
    case "fl32", "FL32": sampleByteCount = 4
    case "fl64", "FL64": sampleByteCount = 8
    case "alaw", "ulaw", "ALAW", "ULAW": sampleByteCount = 1
    default: return nil
    }
    channelCount = channels
    self.frames = frames
    sampleRate = Int(clamping: rate)
  }

  var isBigEndian: Bool { !["sowt", "42ni", "23ni"].contains(compression) }

  /// Returns AIFF's sample rate, which is stored as an 80-bit floating-point number.
  private static func extended(_ body: [UInt8]) -> Double? {
    guard let exponent = body.integer(at: 8, 2, bigEndian: true), exponent < 0x7FFF,
      let mantissa = body.number(at: 10, 8, bigEndian: true)
    else { return nil }
    let power = exponent - 16383 - 63
    guard (-63...0).contains(power) else { return nil }
    return Double(mantissa) * Double(sign: .plus, exponent: power, significand: 1)
  }
}

/// The contents of the chunk `desc` of a CAF file (Apple Core Audio Format Specification 1.0).
struct CoreAudioDescription {
  let sampleRate: Double
  /// The encoding of the samples, such as `lpcm`.
  let kind: String
  let isFloat: Bool
  let isBigEndian: Bool
  /// The size of a packet in bytes, and its number of frames: 1 if it is not compressed.
  let packetByteCount: Int
  let packetFrames: Int
  /// The number of channels and the bits of a sample; 0 if the chunk ends before these fields.
  let channelCount: Int
  let bitsPerSample: Int

  static let byteCount = 32

  /// Parses the chunk. Returns nil if it is too short.
  init?(_ body: [UInt8]) {
    guard let rateBits = body.number(at: 0, 8, bigEndian: true),
      let kind = body.identifier(at: 8),
      let flags = body.integer(at: 12, 4, bigEndian: true),
      let byteCount = body.integer(at: 16, 4, bigEndian: true),
      let frames = body.integer(at: 20, 4, bigEndian: true)
    else { return nil }
    sampleRate = Double(bitPattern: rateBits)
    self.kind = kind
    isFloat = flags & 1 != 0
    isBigEndian = flags & 2 == 0
    packetByteCount = byteCount
    packetFrames = frames
    channelCount = body.integer(at: 24, 4, bigEndian: true) ?? 0
    bitsPerSample = body.integer(at: 28, 4, bigEndian: true) ?? 0
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
