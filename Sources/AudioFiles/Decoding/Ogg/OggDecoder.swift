import AudioBasics
import Glibc
import RealtimeAudio

/// A decoder of Ogg Vorbis or Opus from any byte source: a file, with exact seeks to every frame,
/// or an endless radio stream, in which each song is a separate Ogg stream.
public final class OggDecoder: PlainSoundDecoder {
  private let bytes: BufferedBytes
  private let file: any OggFile
  private let byteRate: Double

  /// The name of the byte source.
  public var name: String { bytes.name }
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  /// The total number of frames, limited to what the bytes can hold; nil if there is no end, or if
  /// it is unknown.
  public let frameCount: Int?
  /// The number of frames that the last page announces, if there are too few bytes for them.
  public let announcedFrameCount: Int?
  /// Whether data is missing at the end, or was found to be missing before it.
  public var isCutShort: Bool {
    isTorn || announcedFrameCount != nil || isDamaged || file.endsWithinPage || !hasSound
  }
  /// The average bit rate in bits per second.
  public let bitRate: Int?
  /// The tags of the song that was read last.
  public private(set) var tags: SoundFileTags
  /// The file format as text for users.
  public var formatName: String { file is VorbisFile ? "Ogg, Vorbis" : "Ogg, Opus" }
  /// The index of the next frame to read.
  public private(set) var position = 0
  /// The loudspeaker position of each channel; nil for the usual arrangement.
  public let speakers: [Speaker]?
  private var isAway = false
  /// Whether the file ends within a page.
  private let isTorn: Bool
  /// Whether there is sound, or a page that ends the stream without any.
  private let hasSound: Bool
  /// Whether pages before the end were missing.
  private var isDamaged = false
  /// The frame up to which silence replaces missing pages.
  private var silenceEnd = 0
  /// The title of a song that followed another one.
  private let songTitle = MutexBox<String?>(nil)

  /// Opens `source`. Throws `.unusableContents` if it contains neither codec, `.readFailed` if the
  /// opening was interrupted, and the errors that the source throws.
  public convenience init(_ source: any ByteSource) throws(FileFailure) {
    try self.init(BufferedBytes(source))
  }

  init(_ bytes: BufferedBytes) throws(FileFailure) {
    let contents = OggContents(try bytes.peek(512))
    let opened: (any OggFile)? =
      switch contents {
      case .vorbis: VorbisFile(bytes)
      case .opus: OpusFile(bytes)
      case .other: nil
      }
    try bytes.checkOpening()
    guard let opened else { throw .noOgg(bytes.name, contents) }
    self.bytes = bytes
    sampleRate = opened.sampleRate
    channelCount = opened.channelCount
    let announced = opened.frameCount
    let held = announced.flatMap { FileBounds.frameCount($0, inBytes: bytes.byteCount) }
    frameCount = held
    let isCut = announced != held
    announcedFrameCount = isCut ? announced : nil
    isTorn = try OggEnding.isTorn(in: bytes)
    // The library calculates the bit rate from the announced length.
    let announcedRate = (isCut ? nil : opened.bitRate) ?? bytes.source.announcedBitRate
    let rate = announcedRate.map {
      FileBounds.bitRate(
        $0, sampleRate: opened.sampleRate, channelCount: opened.channelCount)
    }
    bitRate = rate
    byteRate = rate.map { Double($0) / 8 } ?? 16000
    tags = opened.tags
    speakers = opened.speakers
    file = opened
    let isEnded = try OggEnding.isEnd(of: bytes)
    hasSound = announced != 0 || isEnded
    try bytes.prepare()
  }

  /// Whether the audio can be read from any frame on.
  public var supportsSeeking: Bool { frameCount != nil }

  /// Returns whether enough audio is buffered, as defined by `SoundDecoder`. Any thread.
  public func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }

  /// Fills `buffer` from frame `target` on with at most `frames` frames. Returns the number of
  /// frames; 0 at the end, or after `interrupt`. Throws `.unusableContents` if the sample rate or
  /// the number of channels changes, and the errors that the source throws.
  public func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let wanted = buffer.room(at: target, atMost: frames, channelCount: channelCount)
    guard wanted > 0, try resume() else { return 0 }
    try checkStream()
    var done = 0
    // Packets are short. Reading several at once saves calls.
    while done < wanted {
      let destination = buffer.base + (target + done) * channelCount
      let silence = min(wanted - done, silenceEnd - position)
      if silence > 0 { destination.update(repeating: 0, count: silence * channelCount) }
      let count =
        silence > 0
        ? silence : file.read(into: destination, frames: wanted - done, channelCount: channelCount)
      if file.isNewStream, done > 0, !hasSameFormat { break }
      try checkStream()
      if takeHole() { continue }
      guard count > 0 else { break }
      done += count
      position += count
    }
    if done == 0 {
      try bytes.check()
      try checkEnd()
    }
    return done
  }

  /// Returns whether pages were missing at the position. Silence replaces them up to the next page.
  private func takeHole() -> Bool {
    guard let end = file.hole else { return false }
    file.hole = nil
    isDamaged = true
    silenceEnd = min(end, frameCount ?? 0)
    return true
  }

  /// Throws an error if the data ended before the end of the audio. Called if a read returned no
  /// frames.
  private func checkEnd() throws(FileFailure) {
    guard !bytes.wasInterrupted, !bytes.source.isInterrupted else { return }
    if let announcedFrameCount, position < announcedFrameCount {
      throw .cutShort(name, position, announcedFrameCount)
    }
    if isTorn || file.endsWithinPage {
      throw FileFailure(
        .unusableContents,
        "\(name) is cut short after \(position) frames, within a page.",
        hint: .restElsewhere(isAny: position > 0))
    }
    guard hasSound, position > 0 || !file.lacksEnd else {
      throw FileFailure(
        .unusableContents, "\(name) is cut short before its first frame.",
        hint: .restElsewhere(isAny: false))
    }
    if let frameCount, position < frameCount { throw .cutShort(name, position, frameCount) }
    try bytes.checkByteCount()
    if isDamaged { throw .damaged(name) }
    guard !file.isForeign else {
      throw FileFailure(
        .unusableContents,
        "\(name) changes its codec midway, or is damaged: it is played for \(position) frames.",
        hint: "Play the stream again, or convert the file with ffmpeg.")
    }
  }

  private var hasSameFormat: Bool {
    file.sampleRate == sampleRate && file.channelCount == channelCount
  }

  /// Checks whether a new song has the same format as those before, and reads its tags.
  private func checkStream() throws(FileFailure) {
    guard file.isNewStream else { return }
    guard file.sampleRate == sampleRate else {
      throw .changedRate(name, sampleRate, file.sampleRate)
    }
    guard file.channelCount == channelCount else {
      throw FileFailure(
        .unusableContents,
        "\(name) changes from \(channelCount) to \(file.channelCount) channels midway.",
        hint: "Play the stream again.")
    }
    file.isNewStream = false
    tags = file.tags
    let title = [tags.artist, tags.title].compactMap { $0 }.joined(separator: " - ")
    if !title.isEmpty { songTitle.withLock { $0 = title } }
  }

  /// Sets the position to `frame`, which may be the end. Throws `.unusableContents` if there is no
  /// such frame, or if the source is not seekable, and the errors that the source throws.
  public func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position else { return }
    try checkSeek(toFrame: frame)
    position = frame
    isAway = true
    silenceEnd = 0
    _ = try resume()
  }

  /// The source of the bytes.
  public var byteSource: (any ByteSource)? { bytes.source }

  /// The title in the tags of a song that followed another one, or else the title announced by the
  /// station. Any thread.
  public var announcedTitle: String? {
    songTitle.withLock { $0 } ?? bytes.source.announcedTitle
  }

  /// Moves to `position` after a seek or an interruption. Returns false if this is interrupted
  /// again.
  private func resume() throws(FileFailure) -> Bool {
    if bytes.wasInterrupted {
      if bytes.source.isInterrupted { return false }
      bytes.recover()
      if frameCount != nil { isAway = true }
    }
    // The libraries may seek again: the next read determines whether the source still ends early.
    if bytes.endsEarly { bytes.recover() }
    guard isAway else { return true }
    let hasArrived = file.seek(to: position)
    try bytes.check()
    if bytes.wasInterrupted { return false }
    guard hasArrived else {
      throw FileFailure(
        .unusableContents, "\(name) is damaged: seeking in it is not possible.",
        hint: "Play the file from its beginning, or get another copy of it.")
    }
    isAway = false
    _ = takeHole()
    return true
  }
}

/// A check of the last page of a file.
private enum OggEnding {
  /// Returns whether the last page is marked as the end of its stream.
  static func isEnd(of bytes: BufferedBytes) throws(FileFailure) -> Bool {
    guard bytes.isSeekable, let byteCount = bytes.byteCount,
      let page = try OggPageHead.last(in: bytes, before: byteCount),
      let flags = try bytes.bytes(at: page.start + OggPageHead.flagsOffset, count: 1).first
    else { return false }
    return flags & OggPageHead.ends != 0
  }

  /// Returns whether the file ends within its last page. A complete last page need not be marked as
  /// the end of the stream: that of an unfinished recording or of a station is not.
  static func isTorn(in bytes: BufferedBytes) throws(FileFailure) -> Bool {
    guard bytes.isSeekable, let byteCount = bytes.byteCount,
      let page = try OggPageHead.last(in: bytes, before: byteCount)
    else { return false }
    guard let end = page.end else { return true }
    let rest = byteCount - end
    // Of the next page, only a part of its identifier may be present. Other bytes are from other
    // programs.
    guard (1...4).contains(rest) else { return rest < 0 }
    return try Array("OggS".utf8).starts(with: bytes.bytes(at: end, count: rest))
  }
}

/// The codec of an Ogg stream.
enum OggContents: Equatable {
  case vorbis
  case opus
  case other

  /// Detects the codec of the stream that begins with the first page in `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.holds("OggS", at: 0), bytes.count > 27 else {
      self = .other
      return
    }
    let packet = min(27 + Int(bytes[26]), bytes.count)
    self.init(packet: UnsafeRawBufferPointer(rebasing: bytes[packet...]))
  }

  /// Detects the codec of the stream that begins with `packet`.
  init(packet: UnsafeRawBufferPointer) {
    if packet.holds("\u{1}vorbis", at: 0) {
      self = .vorbis
    } else if packet.holds("OpusHead", at: 0) {
      self = .opus
    } else {
      self = .other
    }
  }
}

/// A decoder of the Ogg streams in a byte source. Failures of reads are stored in the source.
protocol OggFile: AnyObject {
  /// The sample rate of the stream read last.
  var sampleRate: Int { get }
  /// The number of channels of the stream read last.
  var channelCount: Int { get }
  /// The total number of frames; nil if the source is not seekable.
  var frameCount: Int? { get }
  /// The bit rate in bits per second.
  var bitRate: Int? { get }
  /// The tags of the stream read last.
  var tags: SoundFileTags { get }
  /// The loudspeakers of the channels; nil for the usual ones.
  var speakers: [Speaker]? { get }
  /// Whether a read reached a new stream after another one. The caller resets it to false.
  var isNewStream: Bool { get set }
  /// Whether the last read reached a stream that the library does not decode: one of another codec,
  /// or with a damaged header.
  var isForeign: Bool { get }

  /// The frame at which audio continues after missing pages that the last read or seek reached. The
  /// caller resets it to nil. Only for seekable sources.
  var hole: Int? { get set }
  /// The index of the next frame to read.
  var framePosition: Int { get }
  /// Whether a pipe ended within a page.
  var endsWithinPage: Bool { get }
  /// Whether a pipe ended without any mark of an end.
  var lacksEnd: Bool { get }

  /// Reads at most `frames` frames and returns their number; 0 at the end, at a hole, or if the
  /// number of channels differs from `channelCount`.
  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int
  /// Seeks to exactly `frame`. Returns false if this fails.
  func seek(to frame: Int) -> Bool
}

extension OggFile {
  var speakers: [Speaker]? { nil }

  /// Reads up to `frame`, or to the end of a hole that contains it. Returns false if it is not
  /// reached.
  func skip(to frame: Int) -> Bool {
    let channelCount = channelCount
    var unwanted = [Float](repeating: 0, count: 960 * channelCount)
    while framePosition < frame {
      let wanted = min(frame - framePosition, 960)
      let count = unwanted.withUnsafeMutableBufferPointer { samples in
        samples.baseAddress.map { read(into: $0, frames: wanted, channelCount: channelCount) } ?? 0
      }
      guard count > 0 || hole != nil else { return false }
      if let end = hole, end <= frame { hole = nil }
    }
    if framePosition > frame { hole = framePosition }
    return true
  }
}

/// The seek callback for the Vorbis and Opus libraries.
extension BufferedBytes {
  /// Seeks like `fseek`. Refuses to seek after a failure or an interruption, because the libraries
  /// interpret a read of 0 bytes as the end of the file, and would search backwards forever.
  func seekForCallback(_ offset: Int, _ origin: Int32) -> Int32 {
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: byteCount ?? 0
      }
    guard isSeekable, !isStopped, let target = origin.offset(movedBy: offset) else {
      return -1
    }
    position = target
    return 0
  }
}

extension FileFailure {
  /// Returns the failure to read data that contains neither Vorbis nor Opus, or is damaged.
  static func noOgg(_ name: String, _ contents: OggContents) -> FileFailure {
    if case .other = contents {
      return FileFailure(
        .unusableContents, "\(name) holds neither Vorbis nor Opus.",
        hint: "Save it to a file first; ffmpeg converts it.")
    }
    return FileFailure(
      .unusableContents, "\(name) begins like an Ogg file, but is damaged or cut short.",
      hint: "Get another copy of the file, or convert it with ffmpeg.")
  }
}
