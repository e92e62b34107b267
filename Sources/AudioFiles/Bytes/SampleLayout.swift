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
    case 1, 3, 6, 7: blockFrames = 1
    // Blocks whose number of frames is in the chunk.
    case 2, 0x11, 0x31:
      guard format.blockFrames > 0 else { return nil }
      blockFrames = format.blockFrames
    default: return nil
    }
    sampleRate = format.sampleRate
    blockByteCount = format.blockByteCount
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
    blockByteCount = description.packetByteCount
    blockFrames = description.packetFrames
  }
}
