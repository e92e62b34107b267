import AudioBasics
import CSndFile

/// The encoding of uncompressed samples, as the header of a file describes it.
struct RawEncoding {
  let sampleRate: Int
  let channelCount: Int
  let frameByteCount: Int
  /// The number of the encoding in libsndfile.
  let code: Int
  let isBigEndian: Bool

  /// Returns nil if the samples are compressed, or if the description is not valid.
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

  /// Returns nil under the same conditions.
  init?(_ description: CoreAudioDescription) {
    guard description.packetFrames == 1 else { return nil }
    let isFloat = description.isFloat
    let code: Int? =
      switch (description.kind, description.bitsPerSample) {
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
      code, rate: description.sampleRate, channels: description.channelCount,
      frameByteCount: description.packetByteCount, bits: description.bitsPerSample,
      isBigEndian: description.isBigEndian)
  }

  /// Returns nil under the same conditions.
  init?(_ common: AIFFCommonChunk) {
    let bits = 8 * common.sampleByteCount
    let code: Int? =
      switch (common.compression, bits) {
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
      code, rate: Double(common.sampleRate), channels: common.channelCount,
      frameByteCount: common.frameByteCount, bits: bits,
      isBigEndian: common.isBigEndian)
  }

  private init?(
    _ code: Int?, rate: Double, channels: Int, frameByteCount: Int, bits: Int, isBigEndian: Bool
  ) {
    guard let code, (1...SampleBuffer.maximumChannels).contains(channels),
      frameByteCount == channels * bits / 8,
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
