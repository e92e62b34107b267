import AudioBasics
import CSndFile

/// A sound file just opened: finds out how to read it, and says clearly why it cannot be.
struct SoundSource: ~Copyable {
  /// What libsndfile found, or was told.
  let info: SF_INFO
  /// Frames after which something else than sound follows; nil where that is not known.
  let frameLimit: Int?
  /// Frames that its head announces, where the file is too short for them.
  let missedFrameCount: Int?
  /// Frames that libsndfile counts, as far as the file can hold them; nil where it cannot tell.
  let countedFrames: Int?
  /// What kind of file it is, where its samples are read bare.
  let bareFormat: FileFormat?
  /// Whether it comes through a pipe, and so may go on for ever.
  let isEndless: Bool
  let file: VirtualFile
  let handle: SoundFileHandle

  /// The bytes of a file on disk; those of standard input, which may be a pipe, where `path` is
  /// `-`.
  static func bytes(of path: String) throws(FileFailure) -> BufferedBytes {
    if path == StandardInput.path, let pipe = try PipeSource(path: path) {
      return BufferedBytes(pipe)
    }
    return BufferedBytes(try LocalFile(path: path))
  }

  /// Opens `bytes` by their contents. Where they are not seekable, or it is not known how many
  /// there are, they may be WAV or FLAC.
  static func open(_ bytes: BufferedBytes) throws(FileFailure) -> SoundSource {
    let beginning = try bytes.peek(4)
    guard beginning.count > 0 else {
      try bytes.checkOpening()
      throw .empty(bytes)
    }
    if !bytes.isSeekable, beginning.holds("fLaC", at: 0) {
      return try SoundSource(VirtualFile(bytes))
    }
    if bytes.isSeekable {
      if try MPEGBeginning.isThere(in: bytes) { throw .mpeg(bytes.name) }
      if let cut = try CutCAF(bytes) {
        return try SoundSource(
          VirtualFile(bytes, start: cut.start, expectation: cut.info),
          frameLimit: cut.heldFrameCount, missedFrameCount: cut.announcedFrameCount,
          bareFormat: .caf)
      }
    }
    let wave = try WaveStream(readingFrom: bytes)
    let rest = bytes.byteCount.map { max(0, $0 - bytes.position) }
    let missed = rest.flatMap { wave?.frameCount(beyond: $0) }
    if bytes.isSeekable {
      // A file that says how long it is is best left to libsndfile, which knows every chunk.
      let isUnfinished = try wave?.isUnfinished(in: bytes) ?? false
      let chunks = try WaveChunkCheck(bytes)
      if chunks.areUnsafe, wave == nil { throw .unsafeLists(bytes.name) }
      if !isUnfinished, !chunks.areUnsafe {
        // What is far is gone through by its decoder, within bounds.
        if bytes.source is LocalFile { try FLACComments.check(bytes) }
        return try SoundSource(
          VirtualFile(bytes, end: chunks.end),
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
      frameLimit: wave.frameCount(in: rest), missedFrameCount: missed, bareFormat: .wav)
  }

  /// Takes `bytes` for bare samples that the caller describes.
  static func openRaw(
    _ bytes: BufferedBytes, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SoundSource {
    let info = try info(format: format, sampleRate: sampleRate, channelCount: channelCount)
    guard bytes.byteCount != 0 else { throw .empty(bytes) }
    return try SoundSource(VirtualFile(bytes, expectation: info))
  }

  /// What to tell libsndfile about bare samples. Throws `.invalidRequest` for what it cannot read.
  static func info(
    format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SF_INFO {
    guard let code = format.code, (1...1024).contains(channelCount),
      sampleRate > 0, sampleRate <= Int(Int32.max)
    else {
      throw FileFailure(
        .invalidRequest,
        "Raw samples cannot be \(format.name) at \(sampleRate) Hz in \(channelCount) channels.",
        hint: "Use S16_LE, S24_3LE, S32_LE or FLOAT_LE, and a rate and channels above 0.")
    }
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channelCount)
    info.format = Int32(SF_FORMAT_RAW) | code
    return info
  }

  private init(
    _ file: VirtualFile, frameLimit: Int? = nil, missedFrameCount: Int? = nil,
    bareFormat: FileFormat? = nil
  ) throws(FileFailure) {
    var info = SF_INFO()
    let bytes = file.bytes
    // Locals: see `SoundFileReader.init`.
    let isEndless = !bytes.isSeekable
    let announced = try isEndless || file.isBare ? nil : AnnouncedSound.byteCount(in: bytes)
    let opened = try file.open(&info)
    // What follows the last frame is unknown where the file does not count its frames.
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

  /// The frames that libsndfile counts: those that the bytes can hold, and all where those are too
  /// few.
  private static func counted(
    _ info: SF_INFO, inBytes byteCount: Int?
  ) -> (held: Int?, missed: Int?) {
    let announced = Int(info.frames)
    // Lengths beyond every disk stand for none.
    guard announced >= 0, announced < FileBounds.frameCount,
      var held = FileBounds.frameCount(announced, inBytes: byteCount)
    else { return (nil, nil) }
    if let byteCount, let width = plainByteCount(info) {
      held = min(held, byteCount / (width * max(1, Int(info.channels))))
    }
    return (held, held < announced ? announced : nil)
  }

  /// Frames in the `announced` bytes, where they are more than were counted.
  private static func missed(_ announced: Int?, _ counted: Int?, _ info: SF_INFO) -> Int? {
    guard let announced, let counted, let width = plainByteCount(info) else { return nil }
    let frames = announced / (width * max(1, Int(info.channels)))
    return frames > counted ? min(frames, FileBounds.frameCount) : nil
  }

  /// Bytes of a sample where all have as many; nil where they are compressed.
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

  /// The kind of file that begins with four bytes, the first of them highest.
  static func kind(ofFile beginning: UInt32) -> String? {
    switch beginning {
    case 0x5249_4646: "WAV"
    case 0x5246_3634: "RF64"
    case 0x7269_6666: "Wave64"
    case 0x464F_524D: "AIFF"
    case 0x6361_6666: "CAF"
    case 0x664C_6143: "FLAC"
    case 0x4F67_6753: "Ogg"
    default: nil
    }
  }
}

extension FileFailure {
  /// There is nothing at all.
  fileprivate static func empty(_ bytes: BufferedBytes) -> FileFailure {
    FileFailure(
      .unusableContents, "\(bytes.name) is empty.",
      hint: "Name \(bytes.source is LocalFile ? "a file" : "something") that holds sound.")
  }

  /// libsndfile does not read what begins like a file of `kind`.
  static func refused(_ name: String, _ kind: String?) -> FileFailure {
    guard let kind else {
      return FileFailure(
        .unknownContents, "\(name) is not a sound file that can be read.",
        hint: "Use WAV, RF64, Wave64, AIFF, CAF, FLAC, Ogg, Opus or MP3; ffmpeg converts others.")
    }
    return FileFailure(
      .unusableContents,
      "\(name) begins like \(kind), but is damaged, cut short or of an unknown kind.",
      hint: "Get another copy of the file, or convert it with ffmpeg.")
  }
}
