/// Length of the sound by a file's header, in 32 bits or, beside them, in 64.
enum AnnouncedLength {
  /// Sizes from here on are what recorders write that do not know the length: 0x7FFFFF00 and its
  /// like, 0xFFFFFFFF.
  static let unknownSize = 0x7FFF_F000
  /// The size that stands for one in a `ds64` chunk (EBU Tech 3306, 3.5).
  private static let elsewhere = 0xFFFF_FFFF

  /// Bytes of samples in WAV and RF64 whose head says `size`, and whose `ds64` chunk says `long`,
  /// where there is one; nil where that leaves it open.
  static func data(_ size: Int, long: UInt64?) -> Int? {
    if size == elsewhere, let long {
      // What no file can have is brought to the most it can.
      return Int(min(long, UInt64(FileBounds.byteCount)))
    }
    return size == 0 || size >= unknownSize ? nil : size
  }
}
