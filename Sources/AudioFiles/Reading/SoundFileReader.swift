import AudioBasics
import CSndFile
import Glibc

/// A reader that streams an audio file. Only a few pages of the file are in memory at a time.
///
/// The format is detected from the contents, not from the file name. Samples are returned as 32-bit
/// floats; integers of 16 and 24 bits are converted exactly, as fractions of full scale. One thread
/// at a time, never the audio thread.
///
/// ```swift
/// let tone = SampleBuffer(frameCount: 480, channelCount: 1)
/// var writer = try SoundFileWriter(
///   path: "read.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 1,
///   overwrite: false)
/// try writer.write(tone, frames: 480)
/// try writer.finish()
///
/// var reader = try SoundFileReader(path: "read.wav")
/// var buffer = SampleBuffer(frameCount: 256, channelCount: reader.channelCount)
/// while case let frames = try reader.read(into: &buffer), frames > 0 { print(frames) }
/// ```
public struct SoundFileReader: ~Copyable, @unchecked Sendable {
  // @unchecked because the handle has one owner, which moves with the value.
  private var handle: SoundFileHandle
  let file: VirtualFile
  /// The frame at which the audio data ends and other data may follow; `.max` if it is not limited.
  private let limit: Int
  /// The number of frames that the file must contain: an earlier end is reported as damage. nil if
  /// the file may end anywhere.
  private let promisedFrameCount: Int?
  private let conversion: FloatConversion
  /// The loudspeaker position of each channel; nil if the file does not specify them.
  public let speakers: [Speaker]?
  /// The libsndfile number of the file format and sample encoding.
  private let soundFormat: Int32
  /// The last failure of the source, after which a decoder may end without another read.
  private var sourceFailure: FileFailure?
  /// Whether the source returned audio in a different format after an interruption.
  private var isReplaced = false
  /// The damage that was found in a FLAC file. `FileDecoder` skips it.
  var damage = FLACDamage()

  /// The name of the file in messages.
  public let path: String
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  /// The total number of frames, limited to what the bytes of the file can hold; nil if the file
  /// does not specify it.
  public let frameCount: Int?
  /// The number of frames that the header announces, if the file has too few bytes for them;
  /// otherwise nil.
  public let announcedFrameCount: Int?
  /// Whether the file can be read from any frame on.
  public let isSeekable: Bool
  /// The file format; nil for a format that can only be read.
  public let fileFormat: FileFormat?
  /// The sample format of the file; nil for lossy formats and for encodings that can only be read.
  public let sampleFormat: FileSampleFormat?
  /// The file format as text for users: "WAV", "AU (Sun/NeXT)".
  public let formatName: String
  /// The sample encoding as text for users: "Signed 16 bit PCM", "Vorbis".
  public let encodingName: String
  /// The index of the next frame to read.
  public private(set) var position = 0

  /// Opens the audio file `path`, or standard input if `path` is `-`. Standard input may be a WAV
  /// stream of unknown length. Throws `.cannotOpen`, `.permissionDenied`, `.unknownContents` if
  /// it is no audio of a known format, and `.unusableContents` if it is damaged or empty.
  public init(path: String) throws(FileFailure) {
    try self.init(SoundSource.bytes(of: path))
  }

  /// Opens a file of raw samples in the format given by the caller, or standard input if `path` is
  /// `-`. Throws the errors of `init(path:)`, and `.invalidRequest` for parameters that are not
  /// supported.
  public init(
    rawPath path: String, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    try self.init(
      raw: SoundSource.bytes(of: path), format: format, sampleRate: sampleRate,
      channelCount: channelCount)
  }

  init(
    raw bytes: BufferedBytes, format: SampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    let source = try SoundSource.openRaw(
      bytes, format: format, sampleRate: sampleRate, channelCount: channelCount)
    self.init(source, fileFormat: .raw)
  }

  /// Opens audio from any source. Throws `.unknownContents`, `.unusableContents`, `.readFailed` if
  /// the opening was interrupted, and the errors that `bytes` throws.
  public init(bytes: any ByteSource) throws(FileFailure) {
    try self.init(BufferedBytes(bytes))
  }

  init(_ bytes: BufferedBytes) throws(FileFailure) {
    let source = try SoundSource.open(bytes)
    let bareFormat = source.bareFormat
    self.init(source, fileFormat: bareFormat)
  }

  private init(_ source: consuming SoundSource, fileFormat: FileFormat?) {
    let info = source.info
    file = source.file
    path = source.file.bytes.name
    sampleRate = Int(info.samplerate)
    channelCount = Int(info.channels)
    let counted = source.frameLimit ?? (source.isEndless ? nil : source.countedFrames)
    let missed = source.missedFrameCount
    frameCount = counted
    announcedFrameCount = missed
    limit = source.frameLimit ?? .max
    isSeekable = info.seekable != 0 && !source.isEndless
    soundFormat = info.format
    let format = fileFormat ?? FileFormat(code: info.format)
    self.fileFormat = format
    // Uncompressed samples have the same number of bytes in each frame, so the number of frames is
    // exact.
    let isPlain = format?.isPlain == true && FileSampleFormat(code: info.format) != nil
    let isPromised = format == .flac || source.bareFormat != nil || isPlain
    // Uses local variables: if an initialiser of a noncopyable value reads its own fields in a
    // closure, the compiler destroys a handle that is not yet initialised (Swift 6.3.1).
    promisedFrameCount = missed ?? (isPromised ? counted : nil)
    conversion = FloatConversion(of: info, in: format)
    speakers = Speaker.all(
      of: source.handle, in: source.file.bytes, channelCount: Int(info.channels))
    let isLossy = format?.isLossy ?? false
    sampleFormat = isLossy ? nil : FileSampleFormat(code: info.format)
    formatName =
      source.file.isBW64
      ? SoundContainer.bw64.title
      : format?.title ?? Self.name(of: Int(info.format) & SF_FORMAT_TYPEMASK)
    encodingName = Self.name(of: Int(info.format) & SF_FORMAT_SUBMASK)
    handle = source.takeHandle()
  }

  /// The source of the file's bytes.
  var bytes: BufferedBytes { file.bytes }

  /// Returns whether a file with that name exists, readable or not.
  public static func exists(_ path: String) -> Bool {
    FileStatus(of: path) != nil
  }

  /// Returns whether `path` exists and is neither a file on disk nor a folder.
  public static func isPipe(_ path: String) -> Bool {
    FileStatus(of: path).map { !$0.isRegular && !$0.isFolder } ?? false
  }

  /// Returns whether two names refer to the same file.
  public static func isSame(_ path: String, _ other: String) -> Bool {
    guard let one = FileIdentity(of: path) else { return false }
    return one == FileIdentity(of: other)
  }

  /// Fills `buffer` from frame `target` on with at most `frames` frames (by default, as many as
  /// fit). Returns the number of frames read; 0 at the end.
  ///
  /// Throws `.readFailed` if the disk fails, and `.unusableContents` after the last frame before a
  /// damaged part.
  public mutating func read(
    into buffer: inout SampleBuffer, at target: Int = 0, frames: Int? = nil
  ) throws(FileFailure) -> Int {
    let requested = buffer.room(at: target, atMost: frames ?? .max, channelCount: channelCount)
    let wanted = min(requested, limit - position)
    guard wanted > 0 else {
      if requested > 0 { try checkPromise() }
      return 0
    }
    try resume()
    let start = buffer.base + target * channelCount
    if let silence = takeSilence(into: start, frames: wanted) { return silence }
    let count = conversion.read(handle, into: start, frames: wanted)
    position += count
    if count > 0 {
      sourceFailure = nil
    } else {
      try checkSource()
      guard !bytes.wasInterrupted else { return 0 }
      if try skipDamage(at: position) {
        return takeSilence(into: start, frames: wanted) ?? 0
      }
      try checkPromise()
    }
    return count
  }

  /// Fills the memory at `target` with silence in place of damaged data. Returns the number of
  /// frames; nil if the next frame is not damaged.
  private mutating func takeSilence(
    into target: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int? {
    let count = min(frames, damage.silenceEnd - position)
    guard count > 0 else { return nil }
    target.update(repeating: 0, count: count * channelCount)
    position += count
    return count
  }

  /// Sets the position of the next read to `frame`, which may be the end of the file. Throws
  /// `.unusableContents` if there is no such frame, or if the file is not seekable.
  public mutating func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position else { return }
    guard isSeekable else {
      throw .onlyForward(path, isFile: bytes.isSeekable && bytes.source.hadRandomAccess)
    }
    try resume()
    guard frame >= 0, frame <= limit, try moveDecoder(to: frame) else {
      if let promised = announcedFrameCount ?? frameCount, frame >= 0, frame <= promised {
        throw .unreachable(path, frame, promised)
      }
      throw .noFrame(path, frame, of: frameCount)
    }
    position = frame
  }

  /// Prepares the decoder for `frame`. Returns false if there is no such frame.
  private mutating func moveDecoder(to frame: Int) throws(FileFailure) -> Bool {
    let isDamaged = damage.range(containing: frame) != nil
    let place = isDamaged ? -1 : sf_seek(handle.pointer, sf_count_t(frame), SEEK_SET)
    try checkSource()
    // The next read seeks to this frame.
    if bytes.wasInterrupted { return true }
    guard place == sf_count_t(frame) else { return try recover(at: frame) }
    sourceFailure = nil
    damage.silenceEnd = 0
    return true
  }

  /// The tags of the file, read from its header.
  public var tags: SoundFileTags { SoundFileTags(of: handle) }

  /// The time at which the first frame was captured; nil if the file does not specify it.
  public var origination: Origination? { Origination(of: handle) }

  /// The markers of the file.
  public var markers: [SoundFileMarker] {
    // Chunks are read in many small pieces. On a network server, each would be a request.
    let isNear = fileFormat == .rf64 || fileFormat == .wav && bytes.source is LocalFile
    if isNear, let found = try? SoundFileMarker.all(inWave: bytes) { return found }
    return SoundFileMarker.all(of: handle)
  }

  /// Opens the file again after an interrupted or failed read, because the state of a decoder is
  /// undefined after a partial block.
  private mutating func resume() throws(FileFailure) {
    guard !isReplaced else { throw .replaced(path) }
    guard bytes.wasInterrupted || sourceFailure != nil, isSeekable, !bytes.source.isInterrupted
    else { return }
    let isThere = try reopen(at: max(position, damage.silenceEnd))
    sourceFailure = nil
    guard isThere || bytes.wasInterrupted else {
      throw .unreachable(path, position, announcedFrameCount ?? frameCount ?? position)
    }
  }

  /// Opens the file again and seeks to `frame`. Returns false if the decoder does not reach it.
  mutating func reopen(at frame: Int) throws(FileFailure) -> Bool {
    var info = SF_INFO()
    let fresh = try file.open(&info)
    // A server may return a different file under the same name. The caller's buffers are allocated
    // for the first file only.
    isReplaced =
      info.format != soundFormat || Int(info.channels) != channelCount
      || Int(info.samplerate) != sampleRate
    guard !isReplaced else { throw .replaced(path) }
    handle = fresh
    let place = sf_seek(handle.pointer, sf_count_t(frame), SEEK_SET)
    try checkSource()
    return place == sf_count_t(frame)
  }

  /// Throws the failure of the source that occurred in a callback, and remembers it.
  private mutating func checkSource() throws(FileFailure) {
    do throws(FileFailure) {
      try bytes.check()
    } catch {
      sourceFailure = error
      throw error
    }
  }

  /// Throws an error if the file ended too early. The decoder stops without an error at the first
  /// damaged block, and if bytes are missing.
  private func checkPromise() throws(FileFailure) {
    if let sourceFailure { throw sourceFailure }
    if let promisedFrameCount, position < promisedFrameCount {
      throw .cutShort(path, position, promisedFrameCount)
    }
    if promisedFrameCount == nil { try bytes.checkByteCount() }
    if damage.isFound || endsBeforeItsBytes { throw .damaged(path) }
  }

  private static func name(of format: Int) -> String {
    var info = SF_FORMAT_INFO()
    info.format = Int32(format)
    let size = Int32(MemoryLayout<SF_FORMAT_INFO>.size)
    guard sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &info, size) == 0, let name = info.name
    else { return "unknown" }
    return String(cString: name)
  }
}

extension SampleBuffer {
  /// Returns how many of `frames` frames of a sound with `channelCount` channels fit from frame
  /// `target` on. Ends the program with a sentence unless the buffer has as many channels, and
  /// `target` is in it or its end.
  func room(at target: Int, atMost frames: Int, channelCount: Int) -> Int {
    requirement(
      self.channelCount == channelCount,
      "The buffer and the sound must have the same number of channels.")
    requirement(
      target >= 0 && target <= frameCount,
      "The frames are outside of the buffer.")
    return min(frames, frameCount - target)
  }
}
