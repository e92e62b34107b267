import AudioBasics
import CSndFile

/// An audio file that has just been opened, with the parameters for reading it. Opening throws an
/// error that explains why a file cannot be read.
struct SoundSource: ~Copyable {
  /// The properties found by libsndfile, or given to it for raw samples.
  let info: SF_INFO
  /// The frame at which other data than audio follows; nil if it is unknown.
  let frameLimit: Int?
  /// The number of frames that the header announces, if the file is too short for them.
  let missedFrameCount: Int?
  /// The number of frames counted by libsndfile, limited to what the file can hold; nil if
  /// libsndfile cannot determine it.
  let countedFrames: Int?
  /// The file format, if the samples are read as raw samples after the header.
  let bareFormat: FileFormat?
  /// Whether the source is not seekable, such as a pipe, and may never end.
  let isEndless: Bool
  let file: VirtualFile
  let handle: SoundFileHandle

  /// Opens a file on disk, or standard input, which may be a pipe, if `path` is `-`.
  static func bytes(of path: String) throws(FileFailure) -> BufferedBytes {
    if path == StandardInput.path, let pipe = try PipeSource(path: path) {
      return BufferedBytes(pipe)
    }
    return BufferedBytes(try LocalFile(path: path))
  }

  /// Detects the format of `bytes` from their contents and opens them. If they are not seekable, or
  /// their number is unknown, only WAV and FLAC are supported.
  static func open(_ bytes: BufferedBytes) throws(FileFailure) -> SoundSource {
    let beginning = try bytes.peek(4)
    let container = SoundContainer(beginning: Array(beginning))
    guard beginning.count > 0 else {
      try bytes.checkOpening()
      throw .empty(bytes)
    }
    if !bytes.isSeekable, container == .flac {
      return try SoundSource(VirtualFile(bytes))
    }
    if bytes.isSeekable {
      if try MPEGBeginning.isThere(in: bytes) { throw .mpeg(bytes.name) }
      if let bare = try BareSamples(bytes) { return try SoundSource(bare, in: bytes) }
    }
    let wave = try container?.isWave == true ? WaveStream(readingFrom: bytes) : nil
    let rest = bytes.byteCount.map { max(0, $0 - bytes.position) }
    let missed = rest.flatMap { wave?.frameCount(beyond: $0) }
    if bytes.isSeekable {
      // A file that specifies its length is left to libsndfile, which supports all chunks.
      let isUnfinished = try wave?.isUnfinished(in: bytes) ?? false
      let chunks = try WaveChunkCheck(bytes)
      if chunks.areUnsafe, wave == nil { throw .unsafeLists(bytes.name) }
      if !isUnfinished, !chunks.areUnsafe {
        return try whole(
          bytes, container, end: chunks.end,
          frameLimit: missed == nil ? nil : wave?.frameCount(in: rest), missedFrameCount: missed)
      }
    }
    guard let wave else {
      try bytes.checkOpening()
      throw FileFailure(
        .unusableContents,
        "\(bytes.name) can only be read from its beginning on, which this kind of file does not allow.",
        hint: "Save it to a file first; WAV, FLAC, MP3 and Ogg need not be saved.")
    }
    return try SoundSource(
      VirtualFile(bytes, start: bytes.position, expectation: wave.info),
      frameLimit: wave.frameCount(in: rest), missedFrameCount: missed,
      bareFormat: wave.fileFormat)
  }

  /// Opens a seekable file, whose chunks end at `end`, with libsndfile. If that rejects the
  /// contents, they may be bare samples.
  private static func whole(
    _ bytes: BufferedBytes, _ container: SoundContainer?, end: Int?, frameLimit: Int?,
    missedFrameCount: Int?
  ) throws(FileFailure) -> SoundSource {
    // The decoder reads the comments of remote files itself, within limits.
    if bytes.source is LocalFile { try FLACComments.check(bytes) }
    let end = try container == .wave64 ? Wave64Samples.end(in: bytes) : end
    do throws(FileFailure) {
      return try SoundSource(
        VirtualFile(bytes, end: end, replacement: HeadReplacement(container, in: bytes)),
        frameLimit: frameLimit, missedFrameCount: missedFrameCount)
    } catch {
      guard error.kind == .unusableContents, let bare = try BareSamples(bytes, isRefused: true)
      else { throw error }
      return try SoundSource(bare, in: bytes)
    }
  }

  /// Opens `bytes` as raw samples in the format given by the caller.
  static func openRaw(
    _ bytes: BufferedBytes, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SoundSource {
    let info = try info(format: format, sampleRate: sampleRate, channelCount: channelCount)
    guard bytes.byteCount != 0 else { throw .empty(bytes) }
    return try SoundSource(VirtualFile(bytes, expectation: info))
  }

  /// Returns the description of raw samples for libsndfile. Throws `.invalidRequest` if libsndfile
  /// cannot read them.
  static func info(
    format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SF_INFO {
    guard let code = format.code, (1...SampleBuffer.maximumChannels).contains(channelCount),
      sampleRate > 0, sampleRate <= Int(Int32.max)
    else {
      throw FileFailure(
        .invalidRequest,
        "Raw samples cannot be \(format.name) at \(sampleRate) Hz in \(channelCount) channels.",
        hint: "Use S16_LE, S24_3LE, S32_LE or FLOAT_LE, a rate of 1 to \(Int32.max) Hz, "
          + "and 1 to 1024 channels.")
    }
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channelCount)
    info.format = Int32(SF_FORMAT_RAW) | code
    return info
  }

  /// Opens the samples after a header that libsndfile does not read.
  private init(_ bare: BareSamples, in bytes: BufferedBytes) throws(FileFailure) {
    try self.init(
      VirtualFile(bytes, start: bare.start, expectation: bare.info),
      frameLimit: bare.heldFrameCount, missedFrameCount: bare.announcedFrameCount,
      bareFormat: bare.fileFormat)
  }

  private init(
    _ file: VirtualFile, frameLimit: Int? = nil, missedFrameCount: Int? = nil,
    bareFormat: FileFormat? = nil
  ) throws(FileFailure) {
    var info = SF_INFO()
    let bytes = file.bytes
    // Local variables, for the reason given in `SoundFileReader.init`.
    let isEndless = !bytes.isSeekable
    let announced = try isEndless || file.isBare ? nil : AnnouncedSound.byteCount(in: bytes)
    let opened = try file.open(&info)
    // Data after the last frame can only be detected if the file specifies its number of frames.
    let isCounted = info.frames > 0 && info.frames < FileBounds.frameCount
    let counts = isEndless && !file.isBare && isCounted
    let frames = Int(info.frames)
    let counted = Self.counted(info, inBytes: bytes.byteCount)
    countedFrames = counted.held
    let missed = missedFrameCount ?? counted.missed ?? Self.missed(announced, counted.held, info)
    self.frameLimit = frameLimit ?? (counts ? frames : nil)
    self.missedFrameCount = missed
    self.isEndless = isEndless
    self.bareFormat = bareFormat
    self.info = info
    self.file = file
    handle = opened
  }

  consuming func takeHandle() -> SoundFileHandle { handle }

  /// Returns the number of frames that libsndfile counts, limited to what the bytes can hold
  /// (`held`), and the unlimited number if the bytes are too few (`missed`).
  private static func counted(
    _ info: SF_INFO, inBytes byteCount: Int?
  ) -> (held: Int?, missed: Int?) {
    let announced = Int(info.frames)
    // A length beyond the size of any disk means that it is unknown.
    guard announced >= 0, announced < FileBounds.frameCount,
      var held = FileBounds.frameCount(announced, inBytes: byteCount)
    else { return (nil, nil) }
    if let byteCount, let width = plainByteCount(info) {
      held = min(held, byteCount / (width * max(1, Int(info.channels))))
    }
    return (held, held < announced ? announced : nil)
  }

  /// Returns the number of frames in the `announced` bytes, if it exceeds `counted`; otherwise nil.
  private static func missed(_ announced: Int?, _ counted: Int?, _ info: SF_INFO) -> Int? {
    guard let announced, let counted, let width = plainByteCount(info) else { return nil }
    let frames = announced / (width * max(1, Int(info.channels)))
    return frames > counted ? min(frames, FileBounds.frameCount) : nil
  }

  /// Returns the size of a sample in bytes; nil if the samples are compressed.
  private static func plainByteCount(_ info: SF_INFO) -> Int? {
    guard Int(info.format) & SF_FORMAT_TYPEMASK != SF_FORMAT_FLAC else { return nil }
    return switch Int(info.format) & SF_FORMAT_SUBMASK {
    case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_ULAW, SF_FORMAT_ALAW: 1
    case SF_FORMAT_PCM_16: 2
    case SF_FORMAT_PCM_24: 3
    case SF_FORMAT_PCM_32, SF_FORMAT_FLOAT: 4
    case SF_FORMAT_DOUBLE: 8
    default: nil
    }
  }
}

extension FileFailure {
  /// Returns the failure to open an empty source.
  fileprivate static func empty(_ bytes: BufferedBytes) -> FileFailure {
    FileFailure(
      .unusableContents, "\(bytes.name) is empty.",
      hint: "Name \(bytes.source is LocalFile ? "a file" : "something") that holds sound.")
  }

  /// Returns the failure of libsndfile to read a file that begins like such a container.
  static func refused(_ name: String, _ container: SoundContainer?) -> FileFailure {
    guard let container else {
      return FileFailure(
        .unknownContents, "\(name) is not a sound file that can be read.",
        hint: "Use WAV, RF64, Wave64, AIFF, CAF, FLAC, Ogg, Opus or MP3; ffmpeg converts others.")
    }
    return FileFailure(
      .unusableContents,
      "\(name) begins like \(container.title), but is damaged, cut short or of an unknown kind.",
      hint: "Get another copy of the file, or convert it with ffmpeg.")
  }
}
