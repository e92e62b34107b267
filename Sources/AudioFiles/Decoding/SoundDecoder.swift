import AudioBasics

/// Frames of sound, decoded as they are asked for: a file, a stream, or whatever you write.
///
/// One thread at a time calls it, never the audio thread; what may be called from elsewhere says
/// so.
///
/// ```swift
/// /// A second of a saw wave, as a source of a player's queue.
/// final class Saw: PlainSoundDecoder {
///   let name = "saw"
///   let sampleRate = 48000
///   let channelCount = 1
///   let frameCount: Int? = 48000
///   let supportsSeeking = true
///   private(set) var position = 0
///
///   func read(
///     into buffer: inout SampleBuffer, at target: Int, frames: Int
///   ) throws(FileFailure) -> Int {
///     let count = min(frames, 48000 - position)
///     for frame in 0..<count { buffer[target + frame] = Float((position + frame) % 100) / 100 }
///     position += count
///     return count
///   }
///
///   func seek(toFrame frame: Int) throws(FileFailure) { position = frame }
/// }
/// var settings = DuplexEngine.Settings()
/// settings.endsWithPlayer = true
/// let engine = DuplexEngine(input: nil, output: "sim:clock=free", settings)
/// engine.player.enqueue(Saw())
/// engine.player.play()
/// try await engine.start()
/// let report = await engine.finished()
/// precondition(report.frames >= 48000)
/// ```
public protocol SoundDecoder: AnyObject {
  /// What it is called: a path, an address.
  var name: String { get }

  /// Frames a second.
  var sampleRate: Int { get }

  /// Samples in a frame.
  var channelCount: Int { get }

  /// The loudspeaker that each channel is meant for; nil where the usual arrangement of as many
  /// (`Speaker.usual`) is meant.
  var speakers: [Speaker]? { get }

  /// Frames in all; nil where that is not known, or where there is no end.
  var frameCount: Int? { get }

  /// Whether `frameCount` is an estimate, or what a source says that can only be read on: there may
  /// be more frames, or fewer, and only reading on tells.
  var isLengthEstimated: Bool { get }

  /// Frames that its head announces, where it has fewer than that: a caller that reads on behind
  /// the last is told. nil where it has all.
  var announcedFrameCount: Int? { get }

  /// Whether something is missing behind its last frame, announced or not: whoever reads on there
  /// is told.
  var isCutShort: Bool { get }

  /// Whether it gives the whole numbers of a file, none of which can be NaN or infinite.
  var readsIntegers: Bool { get }

  /// Whether `seek` works.
  var supportsSeeking: Bool { get }

  /// The frame that the next read begins with.
  var position: Int { get }

  /// Bits a second, on average; nil where that is not known.
  var bitRate: Int? { get }

  /// What it says about itself.
  var tags: SoundFileTags { get }

  /// What kind of file it is and how it keeps samples, for people: "WAV, Signed 16 bit PCM". Empty
  /// where it does not say.
  var formatName: String { get }

  /// The places that it names.
  var markers: [SoundFileMarker] { get }

  /// Whether at least `seconds` of sound, or all that is left, is buffered; with nil, three
  /// seconds, or less where data arrives faster than it is played. Any thread.
  func isReady(prebuffer seconds: Double?) -> Bool

  /// Fills `buffer` from frame `target` on with at most `frames` frames and returns how many came:
  /// 0 at the end, or after `interrupt`. `buffer` has `channelCount` channels. Throws where the
  /// bytes cannot be read or decoded.
  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int

  /// Goes to `frame`, exactly; the end is allowed. Throws `.unusableContents` where there is no
  /// such frame, or it cannot be gone to.
  func seek(toFrame frame: Int) throws(FileFailure)

  /// Ends a read or a seek that waits for a network, and all further ones at once, until `proceed`.
  /// Any thread. Asks nothing of a player, and waits for nothing that does.
  func interrupt()

  /// Lets reads wait again. Any thread.
  func proceed()

  /// Whether `interrupt` was called and `proceed` not yet. Any thread.
  var isInterrupted: Bool { get }

  /// Where its bytes come from, for which its reads may wait; nil where nothing waits.
  var byteSource: (any ByteSource)? { get }

  /// What is playing right now, where a radio station says so. Any thread.
  var announcedTitle: String? { get }
}

/// A `SoundDecoder` with defaults for the requirements that most decoders do not need.
public protocol PlainSoundDecoder: SoundDecoder {}

extension PlainSoundDecoder {
  /// Default: nil, the usual arrangement is meant.
  public var speakers: [Speaker]? { nil }

  /// Default: nil, no number of frames is announced.
  public var announcedFrameCount: Int? { nil }

  /// Default: whether a number of frames is announced.
  public var isCutShort: Bool { announcedFrameCount != nil }

  /// Default: false, samples may have any value.
  public var readsIntegers: Bool { false }

  /// Bits a second. Default: nil, not known.
  public var bitRate: Int? { nil }

  /// Default: empty, not known.
  public var formatName: String { "" }

  /// Default: no markers.
  public var markers: [SoundFileMarker] { [] }

  /// Default: no tags.
  public var tags: SoundFileTags { SoundFileTags() }

  /// Default: true.
  public func isReady(prebuffer seconds: Double?) -> Bool { true }

  /// Default: false, the length is exact.
  public var isLengthEstimated: Bool { false }

  /// Default: nil, no read waits.
  public var byteSource: (any ByteSource)? { nil }

  /// Default: interrupts the byte source.
  public func interrupt() { byteSource?.interrupt() }

  /// Default: lets the byte source wait again.
  public func proceed() { byteSource?.proceed() }

  /// Default: whether the byte source is interrupted.
  public var isInterrupted: Bool { byteSource?.isInterrupted ?? false }

  /// Default: the title that the byte source announces.
  public var announcedTitle: String? { byteSource?.announcedTitle }
}

/// A decoder that gives what another gives, but for what it defines itself. `SoundDecoder` has no
/// defaults, so that the compiler finds what is not passed on here.
package protocol ForwardingDecoder: SoundDecoder {
  /// The other.
  var decoder: any SoundDecoder { get }
}

extension ForwardingDecoder {
  package var name: String { decoder.name }
  package var sampleRate: Int { decoder.sampleRate }
  package var channelCount: Int { decoder.channelCount }
  package var speakers: [Speaker]? { decoder.speakers }
  package var frameCount: Int? { decoder.frameCount }
  package var isLengthEstimated: Bool { decoder.isLengthEstimated }
  package var announcedFrameCount: Int? { decoder.announcedFrameCount }
  package var isCutShort: Bool { decoder.isCutShort }
  package var readsIntegers: Bool { decoder.readsIntegers }
  package var supportsSeeking: Bool { decoder.supportsSeeking }
  package var position: Int { decoder.position }
  package var bitRate: Int? { decoder.bitRate }
  package var tags: SoundFileTags { decoder.tags }
  package var formatName: String { decoder.formatName }
  package var markers: [SoundFileMarker] { decoder.markers }
  package var isInterrupted: Bool { decoder.isInterrupted }
  package var byteSource: (any ByteSource)? { decoder.byteSource }
  package var announcedTitle: String? { decoder.announcedTitle }

  package func interrupt() { decoder.interrupt() }
  package func proceed() { decoder.proceed() }
}

extension SoundDecoder {
  /// Throws `.unusableContents` where it has no frame `frame` to go to, the end being one, or where
  /// there is only one way.
  func checkSeek(toFrame frame: Int) throws(FileFailure) {
    guard supportsSeeking else { throw .onlyForward(name) }
    // No sound is longer than the bound; a number near the largest could not be added to.
    let end = (isLengthEstimated ? nil : frameCount) ?? FileBounds.frameCount
    if let announcedFrameCount, frame > end, frame <= announcedFrameCount {
      throw .unreachable(name, frame, announcedFrameCount)
    }
    guard (0...end).contains(frame) else { throw .noFrame(name, frame, of: frameCount) }
  }
}

/// Files that have less than they say, or than is wanted of them.
extension FileFailure {
  /// A decoder has no memory.
  static func noMemory(toDecode name: String) -> FileFailure {
    FileFailure(
      .cannotOpen, "There is no memory to decode \(name).",
      hint: "End other programs, then try again.")
  }

  /// There is no frame `frame` among `frameCount`, where that is known.
  static func noFrame(_ name: String, _ frame: Int, of frameCount: Int?) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) has no frame \(frame).",
      hint: "It has \(frameCount.map(String.init) ?? "fewer") frames.")
  }

  /// Nothing comes after frame `frame`, though `frameCount` are announced.
  static func cutShort(
    _ name: String, _ frame: Int, _ frameCount: Int
  ) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short after \(frame) of \(frameCount) frames.",
      hint: "The part before can be used; get another copy of the file for the rest.")
  }

  /// It has its end, but not all that comes before.
  static func damaged(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) is damaged: parts of its sound are lost before its end.",
      hint: "Get another copy of the file.")
  }

  /// It was read anew after an interruption, and is another file by now.
  static func replaced(_ name: String) -> FileFailure {
    FileFailure(
      .readFailed, "\(name) was replaced by another file while it was read.",
      hint: "Play it again from the beginning.")
  }

  /// The announced frame `frame` cannot be gone to.
  static func unreachable(_ name: String, _ frame: Int, _ frameCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short: it has no frame \(frame), though it announces \(frameCount).",
      hint: "Play the file from its beginning, or get another copy of it.")
  }
}

/// A sound file as a decoder: one on disk, or bytes from elsewhere.
final class FileDecoder: PlainSoundDecoder {
  private var file: SoundFileReader
  private let bytes: BufferedBytes
  private let byteRate: Double
  let tags: SoundFileTags
  let bitRate: Int?

  /// The decoder of a file that is open.
  init(_ file: consuming SoundFileReader) {
    bytes = file.bytes
    tags = file.tags
    let seconds = file.frameCount.map { Double($0) / Double(file.sampleRate) } ?? 0
    let (sampleRate, channelCount) = (file.sampleRate, file.channelCount)
    let counted = bytes.byteCount.flatMap {
      FileBounds.bitRate(
        bytes: $0, seconds: seconds, sampleRate: sampleRate, channelCount: channelCount)
    }
    // Bare samples say how many bytes a second they are; FLAC has fewer.
    let bare = file.sampleFormat.map {
      8 * $0.byteCount * file.channelCount * file.sampleRate
    }
    let rate = counted ?? (file.fileFormat == .flac ? nil : bare)
    bitRate = rate
    byteRate = Double(rate ?? bytes.source.announcedBitRate ?? bare ?? 128_000) / 8
    self.file = file
  }

  convenience init(_ bytes: BufferedBytes) throws(FileFailure) {
    self.init(try SoundFileReader(bytes))
    try bytes.prepare()
  }

  /// Opens `path`; standard input where it is `-`. Throws as `SoundFileReader` does.
  convenience init(path: String) throws(FileFailure) {
    self.init(try SoundFileReader(path: path))
  }

  var name: String { file.path }
  var sampleRate: Int { file.sampleRate }
  var channelCount: Int { file.channelCount }
  var speakers: [Speaker]? { file.speakers }
  var frameCount: Int? { file.frameCount }
  var announcedFrameCount: Int? { file.announcedFrameCount }
  var supportsSeeking: Bool { file.isSeekable }
  var position: Int { file.position }
  var markers: [SoundFileMarker] { file.markers }
  var readsIntegers: Bool { file.sampleFormat.map { $0 != .float } ?? false }
  var byteSource: (any ByteSource)? { bytes.source }

  var formatName: String {
    file.encodingName == file.formatName
      ? file.formatName : "\(file.formatName), \(file.encodingName)"
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    try file.read(into: &buffer, at: target, frames: frames)
  }

  func seek(toFrame frame: Int) throws(FileFailure) { try file.seek(toFrame: frame) }

  func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }
}

extension SoundDecoder {
  /// Reads as `read` does, and ends the program with a sentence where the decoder says that it gave
  /// more than that. Throws what reading throws.
  package func readChecked(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let count = try read(into: &buffer, at: target, frames: frames)
    requirement(
      (0...frames).contains(count),
      "A decoder must return 0 to the number of frames it was asked for."
    )
    return count
  }
}
