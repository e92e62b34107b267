import CSndFile

/// The encoding of uncompressed samples, as the header of a file describes it.
struct RawEncoding {
  let sampleRate: Int
  let channelCount: Int
  let frameByteCount: Int
  /// The number of the encoding in libsndfile.
  let code: Int
  let isBigEndian: Bool

  /// Reads the format chunk of a file of the WAV family, or of Wave64. Returns nil if the samples
  /// are compressed, or if the description is not valid.
  init?(_ format: WaveFormatChunk, isBigEndian: Bool) {
    let code: Int? =
      switch (format.kind, format.bitsPerSample) {
      case (1, 8): SF_FORMAT_PCM_U8
      case (1, 16): SF_FORMAT_PCM_16
      case (1, 24): SF_FORMAT_PCM_24
      case (1, 32): SF_FORMAT_PCM_32
      case (3, 32): SF_FORMAT_FLOAT
      case (3, 64): SF_FORMAT_DOUBLE
      case (6, 8): SF_FORMAT_ALAW
      case (7, 8): SF_FORMAT_ULAW
      default: nil
      }
    self.init(
      code, rate: Double(format.sampleRate), channels: format.channelCount,
      frameByteCount: format.blockByteCount, bits: format.bitsPerSample, isBigEndian: isBigEndian)
  }

  /// Reads the description chunk of a CAF file. Returns nil under the same conditions.
  init?(description: [UInt8]) {
    guard let rateBits = description.number(at: 0, 8, bigEndian: true),
      let flags = description.integer(at: 12, 4, bigEndian: true),
      let byteCount = description.integer(at: 16, 4, bigEndian: true),
      description.integer(at: 20, 4, bigEndian: true) == 1,
      let channels = description.integer(at: 24, 4, bigEndian: true),
      let bits = description.integer(at: 28, 4, bigEndian: true)
    else { return nil }
    let isFloat = flags & 1 != 0
    let code: Int? =
      switch (description.identifier(at: 8), bits) {
      case ("lpcm", 8) where !isFloat: SF_FORMAT_PCM_S8
      case ("lpcm", 16) where !isFloat: SF_FORMAT_PCM_16
      case ("lpcm", 24) where !isFloat: SF_FORMAT_PCM_24
      case ("lpcm", 32): isFloat ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_32
      case ("lpcm", 64) where isFloat: SF_FORMAT_DOUBLE
      case ("ulaw", 8): SF_FORMAT_ULAW
      case ("alaw", 8): SF_FORMAT_ALAW
      default: nil
      }
    self.init(
      code, rate: Double(bitPattern: rateBits), channels: channels, frameByteCount: byteCount,
      bits: bits, isBigEndian: flags & 2 == 0)
  }

  /// Reads the common chunk of AIFF or AIFF-C. Returns nil under the same conditions.
  init?(common body: [UInt8], isCompressed: Bool) {
    guard let layout = SampleLayout(common: body, isCompressed: isCompressed),
      let channels = body.integer(at: 0, 2, bigEndian: true)
    else { return nil }
    let kind = isCompressed ? body.identifier(at: 18) ?? "" : "NONE"
    let bits = 8 * layout.blockByteCount / max(1, channels)
    let code: Int? =
      switch (kind, bits) {
      case ("raw ", 8): SF_FORMAT_PCM_U8
      case ("fl32", _), ("FL32", _): SF_FORMAT_FLOAT
      case ("fl64", _), ("FL64", _): SF_FORMAT_DOUBLE
      case ("alaw", _), ("ALAW", _): SF_FORMAT_ALAW
      case ("ulaw", _), ("ULAW", _): SF_FORMAT_ULAW
      case (_, 8): SF_FORMAT_PCM_S8
      case (_, 16): SF_FORMAT_PCM_16
      case (_, 24): SF_FORMAT_PCM_24
      case (_, 32): SF_FORMAT_PCM_32
      default: nil
      }
    self.init(
      code, rate: Double(layout.sampleRate), channels: channels,
      frameByteCount: layout.blockByteCount, bits: bits,
      isBigEndian: !["sowt", "42ni", "23ni"].contains(kind))
  }

  private init?(
    _ code: Int?, rate: Double, channels: Int, frameByteCount: Int, bits: Int, isBigEndian: Bool
  ) {
    guard let code, (1...1024).contains(channels), frameByteCount == channels * bits / 8,
      rate >= 1, rate <= Double(Int32.max)
    else { return nil }
    self.code = code
    self.frameByteCount = frameByteCount
    self.isBigEndian = isBigEndian
    sampleRate = Int(rounding: rate)
    channelCount = channels
  }

  /// The description of the samples for libsndfile.
  var info: SF_INFO {
    var info = SF_INFO()
    info.samplerate = Int32(clamping: sampleRate)
    info.channels = Int32(channelCount)
    info.format = Int32(
      SF_FORMAT_RAW | code | (isBigEndian ? SF_ENDIAN_BIG : SF_ENDIAN_LITTLE))
    return info
  }
}
