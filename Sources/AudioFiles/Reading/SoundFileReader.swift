import AudioBasics
import CSndFile
import Glibc

/// A sound file being read, streamed: never more of it in memory than a few pages.
///
/// What it is, its contents say, whatever its name. Samples arrive as 32-bit floats: integers of 16
/// and 24 bits exactly, as fractions of full scale. One thread at a time, never the audio thread.
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
  private let file: VirtualFile
  /// Where bare samples end, and something else may follow.
  private let limit: Int
  /// Frames before which an end is damage; nil where the file may end anywhere.
  private let promisedFrameCount: Int?
  private let order: ChannelOrder
  /// The loudspeaker that each channel is meant for; nil where the file does not say.
  public let speakers: [Speaker]?
  /// libsndfile's number for the kind of file and of its samples.
  private let soundFormat: Int32
  /// Whether its source gave another kind of sound after an interruption.
  private var isReplaced = false
  /// Room for samples of 16 bits, which are converted here: in libsndfile that takes several times
  /// longer. Of no frames where the file has others.
  private let shorts: SampleBuffer

  /// What the file is called.
  public let path: String
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Frames in all, and never more than its bytes can hold; nil where the file does not say.
  public let frameCount: Int?
  /// Frames that its head announces, where its bytes are too few for them; else nil.
  public let announcedFrameCount: Int?
  /// Whether it can be read from any frame on.
  public let isSeekable: Bool
  /// What kind of file it is; nil for a kind that is only read.
  public let fileFormat: FileFormat?
  /// What it calls one sample; nil where it has none of its own, or one that is only read.
  public let sampleFormat: FileSampleFormat?
  /// What kind of file it is, for people: "WAV", "AU (Sun/NeXT)".
  public let formatName: String
  /// How it keeps samples, for people: "Signed 16 bit PCM", "Vorbis".
  public let encodingName: String
  /// The frame that the next read begins with.
  public private(set) var position = 0

  /// Opens the sound file `path`, or standard input where it is `-`: a WAV file, whose length need
  /// not be known. Throws `.cannotOpen`, `.permissionDenied` or `.unusableContents`.
  public init(path: String) throws(FileFailure) {
    try self.init(SoundSource.bytes(of: path))
  }

  /// Opens a file of bare samples that the caller describes, or standard input where `path` is `-`.
  /// Throws where it cannot be opened, or no file can be as described.
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

  /// Opens sound that comes from anywhere. Throws `.unusableContents`, `.readFailed` where the
  /// opening was interrupted, and what `bytes` throw.
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
    // Samples that are not compressed take the same number of bytes in each frame: the number of
    // frames is exact.
    let isPlain = format?.isPlain == true && FileSampleFormat(code: info.format) != nil
    let isPromised = format == .flac || source.bareFormat != nil || isPlain
    // Of locals: the compiler destroys a handle that is not there yet where an initialiser of a
    // noncopyable value reads its own fields in a closure (Swift 6.3.1).
    promisedFrameCount = missed ?? (isPromised ? counted : nil)
    order = ChannelOrder(format, channelCount: Int(info.channels))
    speakers = Speaker.all(
      of: source.handle, in: source.file.bytes, channelCount: Int(info.channels))
    let isShort = Int(info.format) & SF_FORMAT_SUBMASK == SF_FORMAT_PCM_16
    shorts = SampleBuffer(
      frameCount: isShort && format != .flac ? 512 : 0, channelCount: channelCount)
    let isLossy = format?.isLossy ?? false
    sampleFormat = isLossy ? nil : FileSampleFormat(code: info.format)
    formatName = format?.title ?? Self.name(of: Int(info.format) & SF_FORMAT_TYPEMASK)
    encodingName = Self.name(of: Int(info.format) & SF_FORMAT_SUBMASK)
    handle = source.takeHandle()
  }

  /// Where its samples come from.
  var bytes: BufferedBytes { file.bytes }

  /// Whether there is a file of that name, readable or not.
  public static func exists(_ path: String) -> Bool {
    FileStatus(of: path) != nil
  }

  /// Whether there is something of that name that is neither a file on disk nor a folder.
  public static func isPipe(_ path: String) -> Bool {
    FileStatus(of: path).map { !$0.isRegular && !$0.isFolder } ?? false
  }

  /// Whether two names lead to one file.
  public static func isSame(_ path: String, _ other: String) -> Bool {
    guard let one = FileIdentity(of: path) else { return false }
    return one == FileIdentity(of: other)
  }

  /// Fills `buffer` from `target` on with at most `frames` frames (by default as many as it has
  /// room for); returns how many, and 0 at the end.
  ///
  /// Throws `.readFailed` where the disk fails, and `.unusableContents` behind the last frame
  /// before damage.
  public mutating func read(
    into buffer: inout SampleBuffer, at target: Int = 0, frames: Int? = nil
  ) throws(FileFailure) -> Int {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the file must have the same number of channels.")
    requirement(
      target >= 0 && target <= buffer.frameCount,
      "The frames are outside of the buffer.")
    let room = buffer.frameCount - target
    let asked = min(frames ?? room, room)
    let wanted = min(asked, limit - position)
    guard wanted > 0 else {
      if asked > 0 { try checkPromise() }
      return 0
    }
    try resume()
    let start = buffer.base + target * channelCount
    let count =
      if shorts.frameCount > 0 {
        readShorts(into: start, frames: wanted)
      } else if fileFormat == .flac {
        readIntegers(into: start, frames: wanted)
      } else {
        max(0, Int(sf_readf_float(handle.pointer, start, sf_count_t(wanted))))
      }
    position += count
    order.sort(start, frames: count)
    if count == 0 {
      try bytes.check()
      if !isInterrupted { try checkPromise() }
    }
    return count
  }

  private func readShorts(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
    // A float has room for two.
    let most = 2 * shorts.frameCount
    let source = UnsafeMutableRawPointer(shorts.base)
      .bindMemory(to: Int16.self, capacity: most * channelCount)
    var done = 0
    while done < frames {
      let wanted = min(frames - done, most)
      let count = max(0, Int(sf_readf_short(handle.pointer, source, sf_count_t(wanted))))
      let samples = target + done * channelCount
      for index in 0..<count * channelCount { samples[index] = Float(source[index]) * (1 / 32768) }
      done += count
      if count < wanted { break }
    }
    return done
  }

  /// Reads integers and converts them where they lie, which takes less than what libsndfile does
  /// for floats.
  private func readIntegers(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
    let memory = UnsafeMutableRawPointer(target)
    let integers = memory.bindMemory(to: Int32.self, capacity: frames * channelCount)
    let count = max(0, Int(sf_readf_int(handle.pointer, integers, sf_count_t(frames))))
    let byteCount = 4 * count * channelCount
    var place = 0
    func convertFour() {
      let four = UnsafeRawPointer(memory + place).loadUnaligned(as: SIMD4<Int32>.self)
      memory.storeBytes(of: SIMD4<Float>(four) * 0x1p-31, toByteOffset: place, as: SIMD4.self)
      place &+= 16
    }
    while place &+ 64 <= byteCount {
      convertFour()
      convertFour()
      convertFour()
      convertFour()
    }
    while place < byteCount {
      let integer = memory.load(fromByteOffset: place, as: Int32.self)
      memory.storeBytes(of: Float(integer) * 0x1p-31, toByteOffset: place, as: Float.self)
      place &+= 4
    }
    _ = memory.bindMemory(to: Float.self, capacity: frames * channelCount)
    return count
  }

  /// Goes to `frame`, with which the next read begins; the end is allowed. Throws
  /// `.unusableContents` where there is no such frame, or the file cannot be wound.
  public mutating func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position else { return }
    guard isSeekable else { throw .onlyForward(path) }
    try resume()
    let mayBe = frame >= 0 && frame <= limit
    let place = mayBe ? sf_seek(handle.pointer, sf_count_t(frame), SEEK_SET) : -1
    try bytes.check()
    if mayBe, isInterrupted {
      // The next call goes there.
      position = frame
      return
    }
    guard mayBe, place == sf_count_t(frame) else {
      if let promised = announcedFrameCount ?? frameCount, frame >= 0, frame <= promised {
        throw .unreachable(path, frame, promised)
      }
      throw .noFrame(path, frame, of: frameCount)
    }
    position = frame
  }

  /// What the file says about itself, read from its head.
  public var tags: SoundFileTags { SoundFileTags(of: handle) }

  /// When its first frame was captured; nil where it does not say.
  public var origination: Origination? { Origination(of: handle) }

  /// The places that the file names.
  public var markers: [SoundFileMarker] {
    // Chunks are read in many small pieces, each of which would be a request to a server.
    let isNear = fileFormat == .rf64 || fileFormat == .wav && bytes.source is LocalFile
    if isNear, let found = try? SoundFileMarker.all(inWave: bytes) { return found }
    return SoundFileMarker.all(of: handle)
  }

  /// Whether bytes did not come that may come yet: what a file on disk has lost meanwhile will not.
  private var isInterrupted: Bool { bytes.wasInterrupted && !(bytes.source is LocalFile) }

  /// Begins anew where a read was interrupted: what a decoder makes of half a block is not
  /// known.
  private mutating func resume() throws(FileFailure) {
    guard !isReplaced else { throw .replaced(path) }
    guard isInterrupted, isSeekable, !bytes.source.isInterrupted else { return }
    var info = SF_INFO()
    let fresh = try file.open(&info)
    // A server may send another file under the same name: the buffers of callers have room for this
    // one only.
    isReplaced =
      info.format != soundFormat || Int(info.channels) != channelCount
      || Int(info.samplerate) != sampleRate
    guard !isReplaced else { throw .replaced(path) }
    handle = fresh
    let place = sf_seek(handle.pointer, sf_count_t(position), SEEK_SET)
    try bytes.check()
    guard place == sf_count_t(position) || isInterrupted else {
      throw .unreachable(path, position, announcedFrameCount ?? frameCount ?? position)
    }
  }

  /// The decoder stops in silence at the first damaged block, and where there are too few bytes.
  private func checkPromise() throws(FileFailure) {
    if let promisedFrameCount, position < promisedFrameCount {
      throw .cutShort(path, position, promisedFrameCount)
    }
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
