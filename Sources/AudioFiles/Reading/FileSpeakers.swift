import CSndFile

/// The loudspeaker positions that a file assigns to its channels.
extension Speaker {
  /// Returns the loudspeaker position of each channel, which may be "none in particular"
  /// (`.other`). Returns nil if the file does not specify positions.
  static func all(
    of handle: borrowing SoundFileHandle, in bytes: BufferedBytes, channelCount: Int
  ) -> [Speaker]? {
    if let named = named(in: handle, channelCount: channelCount) { return named }
    // Only the formats for more than two channels contain this information.
    guard channelCount > 2, let mask = try? unnamed(in: handle, bytes) else { return nil }
    return ChannelMask.speakers(mask, channelCount: channelCount)
  }

  private static func named(
    in handle: borrowing SoundFileHandle, channelCount: Int
  ) -> [Speaker]? {
    var codes = [Int32](repeating: 0, count: channelCount)
    let size = Int32(channelCount * MemoryLayout<Int32>.size)
    guard
      sf_command(handle.pointer, Int32(SFC_GET_CHANNEL_MAP_INFO), &codes, size) == Int32(SF_TRUE)
    else { return nil }
    return codes.map { Speaker(code: Int($0)) }
  }

  /// Returns the mask of speakers of a file for which libsndfile reports none; nil if the file does
  /// not exclude the usual speakers.
  private static func unnamed(
    in handle: borrowing SoundFileHandle, _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int? {
    switch SoundContainer(head: try bytes.bytes(at: 0, count: SoundContainer.headByteCount)) {
    case .riff, .rifx, .rf64, .bw64:
      // The chunks before the format may be long: on a server, each would be a request.
      guard bytes.source is LocalFile else { return nil }
      return try waveMask(bytes)
    case .wave64: return try wave64Mask(bytes)
    case .aiff, .caf, .flac:
      // A recording of several microphones by this program, whose format does not say so.
      guard let software = sf_get_string(handle.pointer, Int32(SF_STR_SOFTWARE)) else { return nil }
      return SoundFileTags.text(software).hasPrefix(SoundFileTags.software) ? 0 : nil
    case .au, .littleEndianAU, .ogg, nil: return nil
    }
  }

  /// Returns the mask of a WAV file that explicitly assigns no speakers to its channels; nil for
  /// any other.
  private static func waveMask(_ bytes: BufferedBytes) throws(FileFailure) -> Int? {
    guard var chunks = try WaveChunks(bytes) else { return nil }
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try chunks.next(), chunk.identifier != "data" else { return nil }
      guard chunk.identifier == "fmt " else { continue }
      let format = try bytes.bytes(at: chunk.body, count: 24)
      return mask(format, isBigEndian: chunks.isBigEndian) == 0 ? 0 : nil
    }
    return nil
  }

  /// Returns the mask of a Wave64 file. The recordings of this program have none.
  private static func wave64Mask(_ bytes: BufferedBytes) throws(FileFailure) -> Int? {
    guard let byteCount = bytes.byteCount else { return nil }
    let walk = ChunkWalk(file: bytes, byteCount: byteCount, style: .wave64)
    guard let chunk = try walk.chunks(from: 40, upTo: ["fmt "])["fmt "] else { return nil }
    return try mask(bytes.bytes(at: chunk.body, count: 24), isBigEndian: false) ?? 0
  }

  /// Returns the mask in an extensible format chunk; nil in any other.
  private static func mask(_ format: [UInt8], isBigEndian: Bool) -> Int? {
    guard format.integer(at: 0, 2, bigEndian: isBigEndian) == WaveFormatChunk.extensible else {
      return nil
    }
    return format.integer(at: 20, 4, bigEndian: isBigEndian)
  }

  /// Creates the position with the libsndfile number `code`.
  private init(code: Int) {
    self =
      switch code {
      case SF_CHANNEL_MAP_LEFT, SF_CHANNEL_MAP_FRONT_LEFT: .frontLeft
      case SF_CHANNEL_MAP_RIGHT, SF_CHANNEL_MAP_FRONT_RIGHT: .frontRight
      case SF_CHANNEL_MAP_CENTER, SF_CHANNEL_MAP_FRONT_CENTER: .frontCentre
      case SF_CHANNEL_MAP_LFE: .lowFrequency
      case SF_CHANNEL_MAP_REAR_LEFT: .backLeft
      case SF_CHANNEL_MAP_REAR_RIGHT: .backRight
      case SF_CHANNEL_MAP_FRONT_LEFT_OF_CENTER: .frontLeftOfCentre
      case SF_CHANNEL_MAP_FRONT_RIGHT_OF_CENTER: .frontRightOfCentre
      case SF_CHANNEL_MAP_REAR_CENTER: .backCentre
      case SF_CHANNEL_MAP_SIDE_LEFT: .sideLeft
      case SF_CHANNEL_MAP_SIDE_RIGHT: .sideRight
      default: .other
      }
  }
}
