/// Limit on how much is read to find out what bytes hold: tags and pictures come before the sound,
/// but not without end.
struct OpeningAllowance {
  /// Bytes in one go: a comment of Vorbis or Opus is held in memory, whole.
  private static let longestRun = 16 << 20
  /// Bytes in all, where they are not near.
  private static let farByteCount = 64 << 20

  /// Places gone to: each of the streams that follow one another in an Ogg file takes some, and
  /// memory.
  private static let mostJumps = 8192

  private var total: Int
  private var run = 0
  private var jumps = 0

  /// That of a file of `byteCount` bytes, some of which may be read several times; of bytes from
  /// elsewhere where nil.
  init(byteCount: Int?) {
    total = Self.farByteCount + 8 * (byteCount ?? 0)
  }

  /// What is read next does not follow what was read last.
  mutating func jump() {
    run = 0
    jumps += 1
  }

  /// Takes note of `count` bytes that were read. False where that is too much.
  mutating func take(_ count: Int) -> Bool {
    total -= count
    run += count
    return total >= 0 && run <= Self.longestRun && jumps <= Self.mostJumps
  }
}

extension FileFailure {
  /// One cannot go back in it.
  static func onlyForward(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) can only be read from its beginning to its end.",
      hint: "Save it to a file first.")
  }

  /// Much was read, and no sound found.
  static func noSoundWithin(_ name: String, _ byteCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) holds no sound in its first \(byteCount >> 20) MiB.",
      hint: "Check what it is; ffmpeg may take its tags and pictures off.")
  }
}
