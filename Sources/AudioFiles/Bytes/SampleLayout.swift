/// The sample rate and block size in the header of an uncompressed file.
struct SampleLayout {
  let sampleRate: Int
  /// The number of bytes that belong together: a frame, or a block of several frames.
  let blockByteCount: Int
  /// The number of frames in such a block.
  let blockFrames: Int

  /// Returns the number of frames in `byteCount` bytes, which may come from a damaged header.
  func frames(in byteCount: Int) -> Int {
    let (frames, isTooMany) = (byteCount / blockByteCount).multipliedReportingOverflow(
      by: blockFrames)
    return isTooMany ? .max : frames
  }

  /// Reads a format chunk of WAV or Wave64; nil if it makes no sense.
  init?(waveFormat body: [UInt8]) {
    guard let format = WaveFormatChunk(body), format.channelCount > 0, format.sampleRate > 0,
      format.blockByteCount > 0
    else { return nil }
    switch format.kind {
    // Integers, floats, A-law and mu-law.
    case 1, 3, 6, 7: blockFrames = 1
    // Blocks whose number of frames is in the chunk.
    case 2, 0x11, 0x31:
      guard let frames = body.integer(at: 18, 2, bigEndian: false), frames > 0 else { return nil }
      blockFrames = frames
    default: return nil
    }
    sampleRate = format.sampleRate
    blockByteCount = format.blockByteCount
  }

  /// Reads a common chunk of AIFF or AIFF-C; nil if it makes no sense.
  init?(common body: [UInt8], isCompressed: Bool) {
    guard let channels = body.integer(at: 0, 2, bigEndian: true), channels > 0,
      let bits = body.integer(at: 6, 2, bigEndian: true), (1...64).contains(bits),
      let rate = Self.extended(body), (1...Double(Int32.max)).contains(rate)
    else { return nil }
    let kind = isCompressed ? body.identifier(at: 18) ?? "" : "NONE"
    let bytes: Int
    switch kind {
    case "NONE", "twos", "sowt", "raw ", "in24", "in32", "42ni", "23ni": bytes = (bits + 7) / 8
    case "fl32", "FL32": bytes = 4
    case "fl64", "FL64": bytes = 8
    case "alaw", "ulaw", "ALAW", "ULAW": bytes = 1
    default: return nil
    }
    sampleRate = Int(clamping: rate)
    blockByteCount = bytes * channels
    blockFrames = 1
  }

  /// Reads a description chunk of CAF; nil if it makes no sense.
  init?(description body: [UInt8]) {
    guard let bits = body.number(at: 0, 8, bigEndian: true), let kind = body.identifier(at: 8),
      ["lpcm", "alaw", "ulaw"].contains(kind),
      let bytes = body.integer(at: 16, 4, bigEndian: true), (1...65536).contains(bytes),
      let frames = body.integer(at: 20, 4, bigEndian: true), (1...65536).contains(frames)
    else { return nil }
    let rate = Double(bitPattern: bits)
    guard (1...Double(Int32.max)).contains(rate) else { return nil }
    sampleRate = Int(clamping: rate)
    blockByteCount = bytes
    blockFrames = frames
  }

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
