/// The length of the audio data according to the file header, given in 32 bits or, in addition, in
/// 64 bits.
enum AnnouncedLength {
  /// The smallest size that means "unknown". Recorders that do not know the length write
  /// 0xFFFFFFFF, 0x7FFFFF00 or a similar value.
  static let unknownSize = 0x7FFF_F000
  /// The 32-bit size that refers to the 64-bit size in a `ds64` chunk (EBU Tech 3306, 3.5).
  private static let elsewhere = 0xFFFF_FFFF

  /// Returns the number of bytes of samples in a WAV or RF64 file. `size` is the size in the header
  /// of the data chunk, `long` the size in the `ds64` chunk, if there is one. Returns nil if these
  /// do not give the length.
  static func data(_ size: Int, long: UInt64?) -> Int? {
    if size == elsewhere, let long {
      // A size that no file can have is reduced to the largest possible size.
      return Int(min(long, UInt64(FileBounds.byteCount)))
    }
    return size == 0 || size >= unknownSize ? nil : size
  }
}
