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

  /// Returns nil if the chunk makes no sense, or if its blocks have no constant number of frames.
  init?(_ format: WaveFormatChunk) {
    guard format.channelCount > 0, format.sampleRate > 0, format.blockByteCount > 0 else {
      return nil
    }
    switch format.kind {
    // Integers, floats, A-law and mu-law.
    case 1, 3, 6, 7:
      blockFrames = 1
      blockByteCount = Self.frameByteCount(
        stated: format.blockByteCount, channels: format.channelCount, bits: format.bitsPerSample)
    // Blocks whose number of frames is in the chunk.
    case 2, 0x11, 0x31:
      guard format.blockFrames > 0 else { return nil }
      blockFrames = format.blockFrames
      blockByteCount = format.blockByteCount
    default: return nil
    }
    sampleRate = format.sampleRate
  }

  /// Returns the size of an uncompressed frame of `channels` channels of `bits` bits, as players
  /// compute it: a damaged stated size must not move the end of the audio. The stated one counts
  /// only for 24 bits in four bytes, or without a number of channels and bits.
  private static func frameByteCount(stated: Int, channels: Int, bits: Int) -> Int {
    let sampleByteCount = (bits + 7) / 8
    guard (1...8).contains(sampleByteCount), channels > 0 else { return stated }
    let isPadded = sampleByteCount == 3 && stated == 4 * channels
    return isPadded ? stated : channels * sampleByteCount
  }

  init(_ common: AIFFCommonChunk) {
    sampleRate = common.sampleRate
    blockByteCount = common.frameByteCount
    blockFrames = 1
  }

  /// Returns nil if the description makes no sense, or if its packets vary in size.
  init?(_ description: CoreAudioDescription) {
    guard ["lpcm", "alaw", "ulaw"].contains(description.kind),
      (1...65536).contains(description.packetByteCount),
      (1...65536).contains(description.packetFrames),
      (1...Double(Int32.max)).contains(description.sampleRate)
    else { return nil }
    sampleRate = Int(clamping: description.sampleRate)
    blockByteCount =
      description.packetFrames == 1
      ? Self.frameByteCount(
        stated: description.packetByteCount, channels: description.channelCount,
        bits: description.bitsPerSample)
      : description.packetByteCount
    blockFrames = description.packetFrames
  }
}
