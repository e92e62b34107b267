import CSndFile

/// A decoder for a single frame of a FLAC file, which shows whether the frame is whole.
///
/// The checksum alone does not show where a frame that is followed by zeros ends: if the last byte
/// of the checksum is zero, the checksum is right one byte earlier as well.
struct FLACTrial {
  private let file: DamagedFile
  /// The header of a FLAC file up to its first frame.
  private let head: [UInt8]
  private let channelCount: Int
  /// Whether the decoder supports such a file: it does not with 12, 20 or 32 bits a sample.
  private let isDecodable: Bool

  init(_ file: DamagedFile, _ information: FLACInformation) {
    self.file = file
    channelCount = information.channelCount
    let block = [UInt8](0x8000_0000 | FLACInformation.byteCount, 4, bigEndian: true)
    let head = Array(SoundContainer.flac.identifier.utf8) + block + information.body(frames: 0)
    var info = SF_INFO()
    isDecodable =
      (try? VirtualFile(BufferedBytes(BytesInMemory(head, of: file.path))).open(&info)) != nil
    self.head = head
  }

  /// Returns the number of zeros after `offset` that belong to the frame that begins at `start`: as
  /// few as are needed to decode it, or, if the decoder does not support the file, as many as can
  /// belong to it. The checksum is right in both cases, and a second examination gives the same
  /// result.
  func zeroCount(
    of start: OpenFrames.Start, before offset: Int, atMost zeros: Int
  ) throws(FileFailure) -> Int {
    let maximum = min(zeros, Self.maximumZeros)
    guard isDecodable, maximum > 0 else { return maximum }
    let frame = try file.bytes(at: start.offset, count: offset - start.offset)
    for count in 0...maximum {
      let bytes = head + frame + [UInt8](repeating: 0, count: count)
      if try decodedFrames(bytes, wanted: start.header.frames) == start.header.frames {
        return count
      }
    }
    return maximum
  }

  /// Returns whether the bytes from `start` to `end` decode to the expected number of frames;
  /// always true if the decoder does not support the file.
  func isWhole(_ start: OpenFrames.Start, to end: Int) throws(FileFailure) -> Bool {
    guard isDecodable else { return true }
    let bytes = try head + file.bytes(at: start.offset, count: end - start.offset)
    return try decodedFrames(bytes, wanted: start.header.frames) == start.header.frames
  }

  /// The two bytes of the checksum, and some bytes before them.
  static let maximumZeros = 8

  private func decodedFrames(_ bytes: [UInt8], wanted: Int) throws(FileFailure) -> Int {
    var info = SF_INFO()
    let source = BufferedBytes(BytesInMemory(bytes, of: file.path))
    // A file that cannot be opened contains no frame.
    guard let handle = try? VirtualFile(source).open(&info), info.channels == channelCount else {
      return 0
    }
    var samples = [Float](repeating: 0, count: wanted * channelCount)
    return samples.withUnsafeMutableBufferPointer { samples in
      samples.baseAddress.map { Int(sf_readf_float(handle.pointer, $0, sf_count_t(wanted))) } ?? 0
    }
  }
}
