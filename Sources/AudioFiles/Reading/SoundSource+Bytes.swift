import AudioBasics
import CSndFile
import Glibc

/// Sound files that come from elsewhere than a disk.
extension SoundSource {
  /// Opens `bytes` by their contents. Where they are not seekable, or it is not known how many there
  /// are, they may be WAV or FLAC.
  static func open(_ bytes: BufferedBytes) throws(FileFailure) -> SoundSource {
    let beginning = try bytes.peek(4)
    guard beginning.count > 0 else {
      try bytes.checkOpening()
      throw FileFailure(
        .unusableContents, "\(bytes.name) is empty.", hint: "Name something that holds sound.")
    }
    if bytes.isSeekable {
      if try isMPEG(bytes) { throw .mpeg(bytes.name) }
      if let cut = try cutCAF(bytes) {
        return try SoundSource(
          VirtualFile(bytes, start: cut.start, expectation: cut.info),
          frameLimit: cut.heldFrameCount, missedFrameCount: cut.announcedFrameCount,
          bareFormat: .caf)
      }
      if try !hasUnsafeLists(bytes) { return try SoundSource(VirtualFile(bytes), frameLimit: nil) }
    }
    if beginning.holds("fLaC", at: 0) {
      return try SoundSource(VirtualFile(bytes), frameLimit: nil, isForwardOnly: true)
    }
    let wave = try WaveStream(readingFrom: bytes)
    guard let wave else {
      try bytes.checkOpening()
      if bytes.isSeekable { throw .unsafeLists(bytes.name) }
      throw FileFailure(
        .unusableContents,
        "\(bytes.name) can only be read from its beginning on, which this kind of file does not allow.",
        hint: "Save it to a file first; WAV, FLAC, MP3 and Ogg need not be saved.")
    }
    let rest = bytes.byteCount.map { max(0, $0 - bytes.position) }
    return try SoundSource(
      VirtualFile(bytes, start: bytes.position, expectation: wave.info),
      frameLimit: wave.frameCount(in: rest),
      missedFrameCount: rest.flatMap { wave.frameCount(beyond: $0) }, bareFormat: .wav,
      isForwardOnly: true)
  }

  private static func isMPEG(_ bytes: BufferedBytes) throws(FileFailure) -> Bool {
    let start = bytes.position
    defer { bytes.position = start }
    return try MPEGBeginning.isThere { place, count throws(FileFailure) in
      bytes.position = start + place
      return Array(try bytes.peek(count))
    }
  }

  /// Takes `bytes` that can only be read from their beginning on for bare samples.
  static func openRaw(
    _ bytes: BufferedBytes, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SoundSource {
    let info = try info(format: format, sampleRate: sampleRate, channelCount: channelCount)
    return try SoundSource(
      VirtualFile(bytes, expectation: info), frameLimit: nil, isForwardOnly: true)
  }

  private init(
    _ file: VirtualFile, frameLimit: Int?, missedFrameCount: Int? = nil,
    bareFormat: FileFormat? = nil,
    isForwardOnly: Bool = false
  ) throws(FileFailure) {
    var info = SF_INFO()
    let announced = isForwardOnly ? nil : try Self.announcedByteCount(file.bytes)
    let opened = try file.open(&info)
    // What follows the last frame is unknown where the file does not count its frames.
    let isCounted = info.frames > 0 && info.frames < FileBounds.frameCount
    let isBare = Int(info.format) & SF_FORMAT_TYPEMASK == SF_FORMAT_RAW
    let counted = isForwardOnly && !isBare && isCounted ? Int(info.frames) : nil
    self.init(
      opened, name: file.bytes.name, info: info, frameLimit: frameLimit ?? counted,
      missedFrameCount: missedFrameCount ?? Self.missed(announced, Int(info.frames), info),
      byteCount: file.bytes.byteCount, bareFormat: bareFormat, isEndless: isForwardOnly)
  }

  private static func announcedByteCount(
    _ bytes: BufferedBytes
  ) throws(FileFailure) -> Int? {
    guard let byteCount = bytes.byteCount else { return nil }
    let start = bytes.position
    defer { bytes.position = start }
    return try AnnouncedSound.byteCount(beyond: byteCount - start) {
      place, count throws(FileFailure) in
      bytes.position = start + place
      return Array(try bytes.peek(count))
    }
  }

  private static func hasUnsafeLists(_ bytes: BufferedBytes) throws(FileFailure) -> Bool {
    guard let byteCount = bytes.byteCount, bytes.position == 0 else { return false }
    defer { bytes.position = 0 }
    return try WaveLists.areUnsafe(byteCount: byteCount) { place, count throws(FileFailure) in
      bytes.position = place
      return Array(try bytes.peek(count))
    }
  }

  private static func cutCAF(_ bytes: BufferedBytes) throws(FileFailure) -> CutCAF? {
    guard let byteCount = bytes.byteCount, bytes.position == 0 else { return nil }
    defer { bytes.position = 0 }
    return try CutCAF(byteCount: byteCount) { place, count throws(FileFailure) in
      bytes.position = place
      return Array(try bytes.peek(count))
    }
  }
}
