import AudioBasics

/// Upper limits on sizes and lengths that a file or a server states. Values are reduced to these
/// limits when they enter the module, so that sums of a few of them, and a length times the frame
/// size of a header, cannot overflow 64 bits.
enum FileBounds {
  /// The most bytes of a file: 8 PiB, each of which a `Double` represents exactly.
  static let byteCount = 1 << 53
  /// The most frames: 23 years at 192 kHz.
  static let frameCount = 1 << 47
  /// The most frames that one byte can represent: the longest half block of Vorbis, in a packet
  /// without bytes whose length needs one byte. FLAC and ALAC need more bytes for digital silence.
  static let framesPerByte = 8192
  /// The number of bytes that are searched for the beginning of audio, if nothing states its
  /// offset.
  static let searchByteCount = 4 << 20
  /// The most useful bits of a sample: a file that has more also contains other data.
  static let bitsPerSample = 64

  /// Returns `announced` frames, limited to the number that `byteCount` bytes can hold in any
  /// encoding; nil for a negative number.
  static func frameCount(_ announced: Int, inBytes byteCount: Int?) -> Int? {
    guard announced >= 0 else { return nil }
    guard let byteCount, byteCount < frameCount / framesPerByte else {
      return min(announced, frameCount)
    }
    return min(announced, max(0, byteCount) * framesPerByte)
  }

  /// Returns the rate of `bytes` bytes in `seconds` seconds, in bits per second, limited to the
  /// most that its channels can need at this sample rate; nil if `seconds` is not positive.
  static func bitRate(
    bytes: Int, seconds: Double, sampleRate: Int, channelCount: Int
  ) -> Int? {
    guard seconds > 0 else { return nil }
    let counted = Int(rounding: Double(bytes) * 8 / seconds)
    return bitRate(counted, sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Returns `announced` bits per second, limited to the most that its channels can need at this
  /// rate.
  static func bitRate(_ announced: Int, sampleRate: Int, channelCount: Int) -> Int {
    min(announced, sampleRate * channelCount * bitsPerSample)
  }
}

extension Int {
  /// Returns this offset plus `distance`; nil if no file can have such an offset.
  func offset(movedBy distance: Int) -> Int? {
    let (moved, isBeyond) = addingReportingOverflow(distance)
    return isBeyond || !(0...FileBounds.byteCount).contains(moved) ? nil : moved
  }
}
