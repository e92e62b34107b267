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
    return channelCount > 2 ? unnamed(in: bytes, channelCount: channelCount) : nil
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

  /// Returns the positions for a local WAV file that explicitly assigns none to its channels, which
  /// libsndfile does not report; nil for all other files.
  private static func unnamed(in bytes: BufferedBytes, channelCount: Int) -> [Speaker]? {
    guard bytes.source is LocalFile, var chunks = try? WaveChunks(bytes) else { return nil }
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try? chunks.next(), chunk.identifier != "data" else { return nil }
      guard chunk.identifier == "fmt " else { continue }
      // WAVEFORMATEXTENSIBLE: the format tag, and the mask of speakers.
      let format = try? bytes.bytes(at: chunk.body, count: 24)
      let tag = format?.integer(at: 0, 2, bigEndian: chunks.isBigEndian)
      let mask = format?.integer(at: 20, 4, bigEndian: chunks.isBigEndian)
      return tag == 0xFFFE && mask == 0 ? Array(repeating: .other, count: channelCount) : nil
    }
    return nil
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
