import AudioBasics
import CSndFile
import Glibc

/// A sound file just opened: finds out how to read it, and says clearly why it cannot be.
struct SoundSource: ~Copyable {
  /// What messages call it.
  let name: String
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
  let handle: SoundFileHandle

  /// Opens a file by its contents; standard input where `path` is `-`.
  static func open(_ path: String) throws(FileFailure) -> SoundSource {
    let name = path == "-" ? standardInput : path
    let descriptor = try descriptor(of: path, name)
    let start = descriptor.position
    let wave = try waveStream(descriptor, name)
    let rest = try start == nil ? nil : byteCount(behind: descriptor, name)
    if let start {
      if wave == nil, let cut = cutCAF(descriptor, from: start) {
        try rewind(descriptor, to: start + cut.start, name)
        return try SoundSource(
          descriptor, name: name, info: cut.info, frameLimit: cut.heldFrameCount,
          missedFrameCount: cut.announcedFrameCount, bareFormat: .caf)
      }
      // A file that says how long it is is best left to libsndfile, which knows every chunk.
      let isUnfinished = wave.map { $0.dataByteCount == nil && $0.endsAtData } ?? false
      let isUnsafe = hasUnsafeLists(descriptor, from: start)
      if isUnsafe, wave == nil { throw .unsafeLists(name) }
      if !isUnfinished, !isUnsafe {
        let missed = wave?.frameCount(beyond: rest ?? 0)
        try rewind(descriptor, to: start, name)
        return try SoundSource(
          descriptor, name: name, info: SF_INFO(),
          frameLimit: missed == nil ? nil : wave?.frameCount(in: rest), missedFrameCount: missed)
      }
    }
    guard let wave else {
      throw FileFailure(
        .unusableContents, "\(name) is a pipe that does not begin like a WAV file.",
        hint: "Send WAV, or describe bare samples: duplex play --raw FORMAT,RATE,CHANNELS -")
    }
    return try SoundSource(
      descriptor, name: name, info: wave.info,
      frameLimit: wave.frameCount(in: rest),
      missedFrameCount: rest.flatMap(wave.frameCount(beyond:)),
      bareFormat: .wav, isEndless: start == nil)
  }

  /// Opens bare samples that the caller describes; standard input where `path` is `-`.
  static func openRaw(
    _ path: String, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> SoundSource {
    let name = path == "-" ? standardInput : path
    let info = try info(format: format, sampleRate: sampleRate, channelCount: channelCount)
    let descriptor = try descriptor(of: path, name)
    let isEndless = descriptor.position == nil
    return try SoundSource(descriptor, name: name, info: info, isEndless: isEndless)
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
    _ descriptor: consuming FileDescriptor, name: String, info: SF_INFO, frameLimit: Int? = nil,
    missedFrameCount: Int? = nil, bareFormat: FileFormat? = nil, isEndless: Bool = false
  ) throws(FileFailure) {
    var info = info
    if info.format == 0, Self.isMPEG(descriptor) { throw .mpeg(name) }
    let beginning = Self.beginning(of: descriptor)
    let byteCount = descriptor.fileByteCount
    // Bare samples need not begin where the file does, but must be opened there.
    let start = info.format == 0 ? nil : descriptor.position
    if start != nil { try Self.rewind(descriptor, to: 0, name) }
    if info.format == 0 { try FLACComments.check(descriptor, name) }
    let announced = info.format == 0 ? Self.announcedByteCount(descriptor) : nil
    let opened: SoundFileHandle
    do throws(SoundFileRefusal) {
      opened = try SoundFileHandle(reading: descriptor, info: &info)
    } catch {
      throw Self.failure(name, error, beginning: beginning)
    }
    if let start, start > 0 { opened.beginRaw(at: start) }
    handle = opened
    self.name = name
    self.info = info
    self.frameLimit = frameLimit
    let counted = Self.counted(info, inBytes: byteCount)
    countedFrames = counted.held
    self.missedFrameCount =
      missedFrameCount ?? counted.missed ?? Self.missed(announced, counted.held, info)
    self.bareFormat = bareFormat
    self.isEndless = isEndless
  }

  init(
    _ handle: consuming SoundFileHandle, name: String, info: SF_INFO, frameLimit: Int?,
    missedFrameCount: Int?, byteCount: Int?, bareFormat: FileFormat?, isEndless: Bool
  ) {
    self.handle = handle
    self.name = name
    self.info = info
    self.frameLimit = frameLimit
    let counted = Self.counted(info, inBytes: byteCount)
    countedFrames = counted.held
    self.missedFrameCount = missedFrameCount ?? counted.missed
    self.bareFormat = bareFormat
    self.isEndless = isEndless
  }

  consuming func takeHandle() -> SoundFileHandle { handle }

  /// The frames that libsndfile counts: those that the bytes can hold, and all where those are too few.
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
  static func missed(_ announced: Int?, _ counted: Int?, _ info: SF_INFO) -> Int? {
    guard let announced, let counted, let width = plainByteCount(info) else { return nil }
    let frames = announced / (width * max(1, Int(info.channels)))
    return frames > counted ? min(frames, FileBounds.frameCount) : nil
  }

  private static func announcedByteCount(_ descriptor: borrowing FileDescriptor) -> Int? {
    guard let start = descriptor.position, let byteCount = descriptor.fileByteCount else {
      return nil
    }
    let number = descriptor.number
    return AnnouncedSound.byteCount(beyond: byteCount - start) { place, count in
      bytes(count, at: start + place, of: number)
    }
  }

  private static func cutCAF(
    _ descriptor: borrowing FileDescriptor, from start: Int
  ) -> CutCAF? {
    guard let byteCount = descriptor.fileByteCount else { return nil }
    let number = descriptor.number
    return CutCAF(byteCount: byteCount - start) { place, count in
      bytes(count, at: start + place, of: number)
    }
  }

  private static func hasUnsafeLists(
    _ descriptor: borrowing FileDescriptor, from start: Int
  ) -> Bool {
    guard let byteCount = descriptor.fileByteCount else { return false }
    let number = descriptor.number
    return WaveLists.areUnsafe(byteCount: byteCount - start) { place, count in
      bytes(count, at: start + place, of: number)
    }
  }

  private static func bytes(_ count: Int, at place: Int, of descriptor: Int32) -> [UInt8] {
    Array(unsafeUninitializedCapacity: count) { bytes, read in
      read = max(0, pread(descriptor, bytes.baseAddress, count, place))
    }
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

  static let standardInputPath = "-"
  static let standardInput = "standard input"

  private static func descriptor(
    of path: String, _ name: String
  ) throws(FileFailure) -> FileDescriptor {
    do throws(SystemError) {
      let descriptor =
        path == "-"
        ? try FileDescriptor(duplicating: STDIN_FILENO) : try FileDescriptor.file(at: path)
      let status = try descriptor.status
      if status.isFolder { throw SystemError(number: EISDIR) }
      if status.isRegular, status.byteCount == 0 { throw SystemError(number: ENODATA) }
      return descriptor
    } catch {
      switch error.number {
      case EBADF where path == "-": throw .closedInput
      case ENODATA:
        throw FileFailure(
          .unusableContents, "\(name) is empty.", hint: "Name a file that holds sound.")
      default: throw .opening(name, error)
      }
    }
  }

  private static func byteCount(
    behind descriptor: borrowing FileDescriptor, _ name: String
  ) throws(FileFailure) -> Int {
    do throws(SystemError) {
      return try descriptor.status.byteCount - (descriptor.position ?? 0)
    } catch {
      throw .reading(name, error)
    }
  }

  private static func waveStream(
    _ descriptor: borrowing FileDescriptor, _ name: String
  ) throws(FileFailure) -> WaveStream? {
    do throws(SystemError) {
      return try WaveStream(readingFrom: descriptor)
    } catch {
      // Where nothing was open, the number went to something that is no file.
      if name == standardInput, error.number == EINVAL || error.number == EBADF {
        throw .closedInput
      }
      throw .reading(name, error)
    }
  }

  private static func rewind(
    _ descriptor: borrowing FileDescriptor, to start: Int, _ name: String
  ) throws(FileFailure) {
    do throws(SystemError) {
      try descriptor.seek(to: start)
    } catch {
      throw .reading(name, error)
    }
  }

  /// The kind of file that its first four bytes announce.
  private static func beginning(of descriptor: borrowing FileDescriptor) -> String? {
    guard let start = descriptor.position else { return nil }
    var bytes: UInt32 = 0
    guard pread(descriptor.number, &bytes, 4, start) == 4 else { return nil }
    return kind(ofFile: UInt32(bigEndian: bytes))
  }

  private static func isMPEG(_ descriptor: borrowing FileDescriptor) -> Bool {
    guard let start = descriptor.position else { return false }
    let number = descriptor.number
    return MPEGBeginning.isThere { place, count in bytes(count, at: start + place, of: number) }
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

  static func failure(
    _ name: String, _ refusal: SoundFileRefusal, beginning: String?
  ) -> FileFailure {
    if let system = refusal.system { return .reading(name, system) }
    guard let beginning else {
      return FileFailure(
        .unknownContents, "\(name) is not a sound file that can be read.",
        hint: "Use WAV, RF64, Wave64, AIFF, CAF, FLAC, Ogg, Opus or MP3; ffmpeg converts others.")
    }
    return FileFailure(
      .unusableContents,
      "\(name) begins like a \(beginning) file, but is damaged, cut short or of an unknown kind.",
      hint: "Make it anew, or convert it with ffmpeg.")
  }
}
