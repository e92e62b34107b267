import AudioBasics
import Glibc
import Synchronization

/// Ogg Vorbis or Opus from any byte source: a file, of which every frame can be gone to exactly, or
/// a radio station without an end, where each song is a stream of its own.
public final class OggDecoder: PlainSoundDecoder {
  private let bytes: BufferedBytes
  private let file: any OggFile
  private let byteRate: Double

  /// Where the bytes come from.
  public var name: String { bytes.name }
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Frames in all, and never more than its bytes can hold; nil where there is no end, or it is not
  /// known.
  public let frameCount: Int?
  /// Frames that its last page announces, where its bytes are too few for them.
  public let announcedFrameCount: Int?
  /// Whether something is missing at its end, or was found to be missing within it.
  public var isCutShort: Bool {
    isTorn || announcedFrameCount != nil || isDamaged || file.endsWithinPage
  }
  /// Bits a second, on average.
  public let bitRate: Int?
  /// What the song that was read last says about itself.
  public private(set) var tags: SoundFileTags
  /// What kind of file it is, for people.
  public var formatName: String { file is VorbisFile ? "Ogg, Vorbis" : "Ogg, Opus" }
  /// The frame that the next read begins with.
  public private(set) var position = 0
  private var isAway = false
  /// Whether the file ends within a page.
  private let isTorn: Bool
  /// Whether pages were missing before its end.
  private var isDamaged = false
  /// The frame before which silence stands for pages that are missing.
  private var silenceEnd = 0
  /// Of a song that came after another.
  private let songTitle = Mutex<String?>(nil)

  /// Opens `source`. Throws `.unusableContents` where it holds neither, `.readFailed` where the
  /// opening was interrupted, and what the source throws.
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
    // The library divides by the length that is announced.
    let announcedRate = (isCut ? nil : opened.bitRate) ?? bytes.source.announcedBitRate
    let rate = announcedRate.map {
      FileBounds.bitRate(
        $0, sampleRate: opened.sampleRate, channelCount: opened.channelCount)
    }
    bitRate = rate
    byteRate = rate.map { Double($0) / 8 } ?? 16000
    tags = opened.tags
    file = opened
    try bytes.prepare()
  }

  /// Whether it can be read from any frame on.
  public var supportsSeeking: Bool { frameCount != nil }

  /// Whether enough sound is buffered, as `SoundDecoder` defines it. Any thread.
  public func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }

  /// Fills `buffer` from frame `target` on with at most `frames` frames; 0 at the end, or after
  /// `interrupt`. Throws `.unusableContents` where the rate or the channels change midway, and what
  /// the source throws.
  public func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the decoder must have the same number of channels.")
    requirement(
      target >= 0 && target <= buffer.frameCount,
      "The frames are outside of the buffer.")
    let wanted = min(frames, buffer.frameCount - target)
    guard wanted > 0, try resume() else { return 0 }
    try checkStream()
    var done = 0
    // Packets are short; a reader who asks for more is not to be asked again and again.
    while done < wanted {
      let place = buffer.base + (target + done) * channelCount
      let silence = min(wanted - done, silenceEnd - position)
      if silence > 0 { place.update(repeating: 0, count: silence * channelCount) }
      let count =
        silence > 0
        ? silence : file.read(into: place, frames: wanted - done, channelCount: channelCount)
      if file.isNewStream, done > 0, !isLikeBefore { break }
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

  /// Whether pages were missing where the sound stands: silence comes up to the next.
  private func takeHole() -> Bool {
    guard let end = file.hole else { return false }
    file.hole = nil
    isDamaged = true
    silenceEnd = min(end, frameCount ?? 0)
    return true
  }

  /// Nothing came: was that the end?
  private func checkEnd() throws(FileFailure) {
    guard !bytes.wasInterrupted, !bytes.source.isInterrupted else { return }
    if let announcedFrameCount, position < announcedFrameCount {
      throw .cutShort(name, position, announcedFrameCount)
    }
    if isTorn || file.endsWithinPage {
      throw FileFailure(
        .unusableContents,
        "\(name) is cut short after \(position) frames, within a page.",
        hint: "The part before can be used; get another copy of the file for the rest.")
    }
    if let frameCount, position < frameCount { throw .cutShort(name, position, frameCount) }
    if isDamaged { throw .damaged(name) }
    guard !file.isForeign else {
      throw FileFailure(
        .unusableContents,
        "\(name) changes its codec midway, or is damaged: it is played for \(position) frames.",
        hint: "Play the stream again, or convert the file with ffmpeg.")
    }
  }

  private var isLikeBefore: Bool {
    file.sampleRate == sampleRate && file.channelCount == channelCount
  }

  /// A new song: is it like those before?
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

  /// Goes to `frame`; the end is allowed. Throws `.unusableContents` where there is no such frame,
  /// or only one way, and what the source throws.
  public func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame != position else { return }
    try checkSeek(toFrame: frame)
    position = frame
    isAway = true
    silenceEnd = 0
    _ = try resume()
  }

  /// Where the bytes come from.
  public var byteSource: (any ByteSource)? { bytes.source }

  /// What the station says it plays, or else what a song that came after another says. Any thread.
  public var announcedTitle: String? {
    songTitle.withLock { $0 } ?? bytes.source.announcedTitle
  }

  /// Goes to `position` where a seek or an interruption has led away from it. False where that is
  /// interrupted again.
  private func resume() throws(FileFailure) -> Bool {
    if bytes.wasInterrupted {
      if bytes.source.isInterrupted { return false }
      bytes.recover()
      if frameCount != nil { isAway = true }
    }
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

/// The last page of a file.
private enum OggEnding {
  /// Whether the file ends within it. One that is whole need not say that the sound ends: a
  /// recording on its way does not, nor does one from a station.
  static func isTorn(in bytes: BufferedBytes) throws(FileFailure) -> Bool {
    guard bytes.isSeekable, let byteCount = bytes.byteCount,
      let page = try OggPageHead.last(in: bytes, before: byteCount)
    else { return false }
    guard let end = page.end else { return true }
    let rest = byteCount - end
    // Of the next page there may be only the beginning of its name; other programs' bytes are none.
    guard (1...4).contains(rest) else { return rest < 0 }
    return try Array("OggS".utf8).starts(with: bytes.bytes(at: end, count: rest))
  }
}

/// Codec of an Ogg stream.
enum OggContents: Equatable {
  case vorbis
  case opus
  case other

  /// What the first page in `bytes` begins.
  init(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.holds("OggS", at: 0), bytes.count > 27 else {
      self = .other
      return
    }
    let packet = min(27 + Int(bytes[26]), bytes.count)
    self.init(packet: UnsafeRawBufferPointer(rebasing: bytes[packet...]))
  }

  /// What the first packet of a stream begins.
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

/// One decoder of Ogg streams in a byte source, which is left with the failures of its reads.
protocol OggFile: AnyObject {
  /// Of the stream read last.
  var sampleRate: Int { get }
  /// Of the stream read last.
  var channelCount: Int { get }
  /// nil where there is only one way.
  var frameCount: Int? { get }
  /// Bits a second.
  var bitRate: Int? { get }
  /// Of the stream read last.
  var tags: SoundFileTags { get }
  /// Whether a read came to a stream after another; its reader sets it to false again.
  var isNewStream: Bool { get set }
  /// Whether the last read came to a stream that its library does not decode: one of another codec,
  /// or a damaged head.
  var isForeign: Bool { get }

  /// The frame with which the sound goes on where pages are missing that the last read or seek came
  /// to; its reader sets it to nil again. Only where one can go about in the file.
  var hole: Int? { get set }
  /// The frame that the next read begins with.
  var place: Int { get }
  /// Whether the last that came through a pipe is the beginning of a page.
  var endsWithinPage: Bool { get }

  /// Reads at most that number of frames; none at the end, at a hole, or of a stream with other
  /// channels.
  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int
  /// Goes to the very frame. False where it failed.
  func seek(to frame: Int) -> Bool
}

extension OggFile {
  /// Reads on to `frame`, or to the end of a hole that it lies in. False where it is not come to.
  func skip(to frame: Int) -> Bool {
    let channelCount = channelCount
    var unwanted = [Float](repeating: 0, count: 960 * channelCount)
    while place < frame {
      let wanted = min(frame - place, 960)
      let count = unwanted.withUnsafeMutableBufferPointer { samples in
        samples.baseAddress.map { read(into: $0, frames: wanted, channelCount: channelCount) } ?? 0
      }
      guard count > 0 || hole != nil else { return false }
      if let end = hole, end <= frame { hole = nil }
    }
    if place > frame { hole = place }
    return true
  }
}

/// Seek callback of the libraries for Vorbis and Opus.
extension BufferedBytes {
  /// As `fseek`. Refuses to go anywhere after a failure or an interruption: the libraries take a
  /// read of nothing for the end of the file, and would look for what lies before it for ever.
  func seekForCallback(_ offset: Int, _ origin: Int32) -> Int32 {
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: byteCount ?? 0
      }
    guard isSeekable, !isStopped, let target = origin.place(movedBy: offset) else { return -1 }
    position = target
    return 0
  }
}

extension FileFailure {
  /// Pages of another kind, or none.
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
