import CMpg123

/// libmpg123 as a decoder of single blocks, one after the other: where they lie, it is not asked.
struct MPEGBlockDecoder: ~Copyable {
  private let handle: OpaquePointer

  /// A decoder to so many channels, whatever a block has. nil without memory.
  init?(sampleRate: Int, channelCount: Int) {
    guard let handle = mpg123_new(nil, nil) else { return nil }
    let flags =
      MPG123_QUIET.rawValue | MPG123_FORCE_FLOAT.rawValue | MPG123_IGNORE_INFOFRAME.rawValue
      | MPG123_NO_READAHEAD.rawValue | MPG123_SKIP_ID3V2.rawValue
      | (channelCount == 1 ? MPG123_MONO_MIX.rawValue : MPG123_FORCE_STEREO.rawValue)
    mpg123_param2(handle, Int32(MPG123_FLAGS.rawValue), Int(flags), 0)
    mpg123_param2(handle, Int32(MPG123_INDEX_SIZE.rawValue), 0, 0)
    mpg123_format_none(handle)
    let channels = channelCount == 1 ? MPG123_MONO.rawValue : MPG123_STEREO.rawValue
    mpg123_format(handle, sampleRate, Int32(channels), Int32(MPG123_ENC_FLOAT_32.rawValue))
    mpg123_open_feed(handle)
    self.handle = handle
  }

  deinit {
    mpg123_delete(handle)
  }

  /// Forgets all blocks before: what comes next need not follow them.
  func reset() {
    mpg123_open_feed(handle)
  }

  /// The samples of a whole block; they stay until the next call. Empty where it is damaged.
  func decode(_ block: UnsafeRawBufferPointer) -> UnsafeBufferPointer<Float> {
    let bytes = block.assumingMemoryBound(to: UInt8.self)
    var result = mpg123_feed(handle, bytes.baseAddress, bytes.count)
    var samples: UnsafeMutablePointer<UInt8>?
    var byteCount = 0
    // The first answer may be the news of a format.
    for _ in 0..<3 where result == MPG123_OK.rawValue || result == MPG123_NEW_FORMAT.rawValue {
      var number = 0
      result = mpg123_decode_frame(handle, &number, &samples, &byteCount)
      if byteCount > 0 { break }
    }
    guard let samples, byteCount > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
    let count = byteCount / MemoryLayout<Float>.stride
    let floats = UnsafeRawPointer(samples).assumingMemoryBound(to: Float.self)
    return UnsafeBufferPointer(start: floats, count: count)
  }
}
