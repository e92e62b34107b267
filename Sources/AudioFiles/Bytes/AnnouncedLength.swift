/// The length of the audio data according to the file header, given in 32 bits or, in addition, in
/// 64 bits.
struct AnnouncedLength {
  /// The size in the header of a WAV or RF64 file.
  let riffByteCount: Int
  /// The size of the samples in the `ds64` chunk, if there is one.
  let long: UInt64?

  /// The 32-bit size that refers to the 64-bit size in a `ds64` chunk (EBU Tech 3306, 3.5).
  private static let elsewhere = 0xFFFF_FFFF
  /// Sizes from here on are doubted if the size of the file is smaller.
  private static let smallestDoubtful = 0x7FFF_E000

  /// Returns whether a 32-bit size means "unknown". Programs that write to a pipe state a size near
  /// 2 or 4 GiB, rounded down to whole frames: 0x7FFFF000 (sox), 0x7FFFFF00, 0x80000000 or
  /// 0xFFFFFFFF.
  static func isPlaceholder(_ size: Int) -> Bool {
    (smallestDoubtful...0x8000_0000).contains(size) || size >= 0xFFFF_E000
  }

  /// Returns whether a `ds64` chunk states that there are no samples, as before the end of a
  /// recording. `size` is the size in the header of the data chunk.
  func isEmptyLong(_ size: Int) -> Bool { size == Self.elsewhere && long == 0 }

  /// Returns the number of bytes of samples, which begin at `start`, in a WAV or RF64 file. `size`
  /// is the size in the header of the data chunk. Returns nil if the header does not give the
  /// length.
  func data(_ size: Int, from start: Int) -> Int? {
    if size == Self.elsewhere, let long, long > 0 {
      // A size that no file can have is reduced to the largest possible size.
      return Int(min(long, UInt64(FileBounds.byteCount)))
    }
    guard size != 0, !Self.isPlaceholder(size) else { return nil }
    return size >= Self.smallestDoubtful && riffByteCount + 8 < start + size ? nil : size
  }
}
