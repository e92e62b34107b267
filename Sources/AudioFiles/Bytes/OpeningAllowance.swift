/// A limit on the number of bytes read to identify a file. Tags and pictures may precede the audio,
/// but their total size is limited.
struct OpeningAllowance {
  /// The maximum number of consecutive bytes. A Vorbis or Opus comment is held in memory as a
  /// whole.
  private static let maximumRunByteCount = 16 << 20
  /// The maximum total number of bytes. For a local file, eight times its length is added.
  private static let farByteCount = 64 << 20

  /// The maximum number of seeks. Each stream of a chained Ogg file needs several seeks, and
  /// memory.
  private static let maximumSeeks = 8192

  private var total: Int
  private var run = 0
  private var jumps = 0

  /// Creates the limit for a local file of `byteCount` bytes, some of which may be read several
  /// times; for another source if `byteCount` is nil.
  init(byteCount: Int?) {
    total = Self.farByteCount + 8 * (byteCount ?? 0)
  }

  /// Records a seek: the next read does not continue the last one.
  mutating func jump() {
    run = 0
    jumps += 1
  }

  /// Records a read of `count` bytes. Returns false if the limit is exceeded.
  mutating func take(_ count: Int) -> Bool {
    total -= count
    run += count
    return total >= 0 && run <= Self.maximumRunByteCount && jumps <= Self.maximumSeeks
  }
}

extension FileFailure {
  /// Returns the failure of a seek backwards in a source that can only be read in sequence, or,
  /// with `isFile`, in a file of such a format.
  static func onlyForward(_ name: String, isFile: Bool = false) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) can only be read from its beginning to its end.",
      hint: .seekableCopy(isFile: isFile))
  }

  /// Returns the failure to find audio after reading `byteCount` bytes.
  static func noSoundWithin(_ name: String, _ byteCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) holds no sound in its first \(byteCount >> 20) MiB.",
      hint: "Check what it is; ffmpeg may take its tags and pictures off.")
  }
}
