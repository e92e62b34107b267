import AudioBasics

/// What is believed of a file or a server at most. Sizes and lengths that enter the module are
/// brought below these, so that sums of a few of them, and a length times the bytes of a frame
/// header, cannot overflow 64 bits.
enum FileBounds {
  /// Bytes of a file: 8 PiB, each of which a `Double` counts exactly.
  static let byteCount = 1 << 53
  /// Frames of a sound: 23 years at 192 kHz.
  static let frameCount = 1 << 47
  /// Frames that one byte stands for at most: the longest half block of Vorbis, in a packet without
  /// bytes whose length takes one. FLAC and ALAC need more bytes for digital silence.
  static let framesPerByte = 8192
  /// Bytes that are looked at for a beginning of sound, where nothing says how far away it is.
  static let searchByteCount = 4 << 20
  /// Bits a second: 1,024 channels of 64-bit samples at 16 MHz.
  static let bitRate = 1 << 40

  /// The `announced` frames, as far as `byteCount` bytes can hold them in any encoding; nil for a
  /// number that is none.
  static func frameCount(_ announced: Int, inBytes byteCount: Int?) -> Int? {
    guard announced >= 0 else { return nil }
    guard let byteCount, byteCount < frameCount / framesPerByte else {
      return min(announced, frameCount)
    }
    return min(announced, max(0, byteCount) * framesPerByte)
  }

  /// `bytes` over `seconds`, in bits a second; nil where that is no rate.
  static func bitRate(bytes: Int, seconds: Double) -> Int? {
    guard seconds > 0 else { return nil }
    return min(Int(rounding: Double(bytes) * 8 / seconds), bitRate)
  }
}

extension Int {
  /// This place, `offset` bytes further on; nil where no file has such a place.
  func place(movedBy offset: Int) -> Int? {
    let (place, isBeyond) = addingReportingOverflow(offset)
    return isBeyond || !(0...FileBounds.byteCount).contains(place) ? nil : place
  }
}
