import AudioBasics

/// A source of decoded audio frames: a file, a stream, or an implementation by the user of the
/// library.
///
/// It is called by one thread at a time, never the audio thread. Members that may be called from
/// any thread are marked.
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
  /// The name of the source: a path or an address.
  var name: String { get }

  /// The sample rate in frames per second.
  var sampleRate: Int { get }

  /// The number of samples in a frame.
  var channelCount: Int { get }

  /// The loudspeaker position of each channel; nil for the usual arrangement of that number of
  /// channels (`Speaker.defaultLayout`).
  var speakers: [Speaker]? { get }

  /// The total number of frames; nil if it is unknown, or if there is no end.
  var frameCount: Int? { get }

  /// Whether `frameCount` is an estimate, or taken from the header of a source that can only be
  /// read in sequence. The actual number, found by reading on, may be larger or smaller.
  var isLengthEstimated: Bool { get }

  /// The number of frames that the header announces, if there are fewer frames: a read after the
  /// last frame then throws an error. nil if all frames exist.
  var announcedFrameCount: Int? { get }

  /// Whether data is missing after the last frame, announced or not: a read after it throws an
  /// error.
  var isCutShort: Bool { get }

  /// Whether the samples are converted from integers, so that none can be NaN or infinite.
  var readsIntegers: Bool { get }

  /// Whether `seek` is supported.
  var supportsSeeking: Bool { get }

  /// The index of the next frame to read.
  var position: Int { get }

  /// The average bit rate in bits per second; nil if it is unknown.
  var bitRate: Int? { get }

  /// The tags.
  var tags: SoundFileTags { get }

  /// The file format and sample encoding as text for users: "WAV, Signed 16 bit PCM". Empty if
  /// unknown.
  var formatName: String { get }

  /// The markers.
  var markers: [SoundFileMarker] { get }

  /// Returns whether at least `seconds` of audio, or all that is left, is buffered. If `seconds` is
  /// nil, the limit is 3 s, or less if data arrives faster than it is played. Any thread.
  func isReady(prebuffer seconds: Double?) -> Bool

  /// Fills `buffer` from frame `target` on with at most `frames` frames, and returns the number of
  /// frames: 0 at the end, or after `interrupt`. `buffer` has `channelCount` channels. Throws an
  /// error if the bytes cannot be read or decoded.
  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int

  /// Sets the position to exactly `frame`, which may be the end. Throws `.unusableContents` if
  /// there is no such frame, or if seeking is not supported.
  func seek(toFrame frame: Int) throws(FileFailure)

  /// Ends a read or a seek that waits for the network, and makes all later ones return at once,
  /// until `proceed` is called. Any thread. Must not call a player, or wait for anything that does.
  func interrupt()

  /// Allows reads to block again. Any thread.
  func proceed()

  /// Whether `interrupt` was called, and `proceed` was not called since. Any thread.
  var isInterrupted: Bool { get }

  /// The source of the bytes, for which reads may block; nil if reads never block.
  var byteSource: (any ByteSource)? { get }

  /// The title playing now, if a radio station announces it. Any thread.
  var announcedTitle: String? { get }
}

/// A `SoundDecoder` with defaults for the requirements that most decoders do not need.
public protocol PlainSoundDecoder: SoundDecoder {}

extension PlainSoundDecoder {
  /// Default: nil, for the usual arrangement.
  public var speakers: [Speaker]? { nil }

  /// Default: nil, because no number of frames is announced.
  public var announcedFrameCount: Int? { nil }

  /// Default: whether a number of frames is announced.
  public var isCutShort: Bool { announcedFrameCount != nil }

  /// Default: false, because samples may have any value.
  public var readsIntegers: Bool { false }

  /// In bits a second. Default: nil, for unknown.
  public var bitRate: Int? { nil }

  /// Default: empty, for unknown.
  public var formatName: String { "" }

  /// Default: no markers.
  public var markers: [SoundFileMarker] { [] }

  /// Default: no tags.
  public var tags: SoundFileTags { SoundFileTags() }

  /// Default: true.
  public func isReady(prebuffer seconds: Double?) -> Bool { true }

  /// Default: false, because the length is exact.
  public var isLengthEstimated: Bool { false }

  /// Default: nil, because no read blocks.
  public var byteSource: (any ByteSource)? { nil }

  /// Default: interrupts the byte source.
  public func interrupt() { byteSource?.interrupt() }

  /// Default: allows the byte source to block again.
  public func proceed() { byteSource?.proceed() }

  /// Default: whether the byte source is interrupted.
  public var isInterrupted: Bool { byteSource?.isInterrupted ?? false }

  /// Default: the title that the byte source announces.
  public var announcedTitle: String? { byteSource?.announcedTitle }
}

/// A decoder that forwards to another decoder all members that it does not define itself.
/// `SoundDecoder` has no default implementations, so that the compiler reports members that are not
/// forwarded here.
package protocol ForwardingDecoder: SoundDecoder {
  /// The decoder to which members are forwarded.
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
  /// Checks whether a seek to `frame`, which may be the end, is possible. Throws
  /// `.unusableContents` if there is no such frame, or if seeking is not supported.
  func checkSeek(toFrame frame: Int) throws(FileFailure) {
    guard supportsSeeking else {
      throw .onlyForward(name, isFile: byteSource?.hadRandomAccess ?? false)
    }
    // No audio is longer than the bound. Larger numbers might overflow in additions.
    let end = (isLengthEstimated ? nil : frameCount) ?? FileBounds.frameCount
    if let announcedFrameCount, frame > end, frame <= announcedFrameCount {
      throw .unreachable(name, frame, announcedFrameCount)
    }
    guard (0...end).contains(frame) else { throw .noFrame(name, frame, of: frameCount) }
  }
}

extension String {
  /// The hint for a source in which no seek is possible; `isFile` says whether it is a file.
  package static func seekableCopy(isFile: Bool) -> String {
    isFile ? "Convert it to uncompressed WAV with ffmpeg first." : "Save it to a file first."
  }

  /// The hint for a file that is cut short. `isAny` says whether any of its sound was read.
  static func restElsewhere(isAny: Bool) -> String {
    isAny
      ? "The part before can be used; get another copy of the file for the rest."
      : "Get another copy of the file."
  }
}

/// Failures of files with fewer frames than announced or requested.
extension FileFailure {
  /// Returns the failure to create a decoder because there is not enough memory.
  static func noMemory(toDecode name: String) -> FileFailure {
    FileFailure(
      .cannotOpen, "There is no memory to decode \(name).",
      hint: "End other programs, then try again.")
  }

  /// Returns the failure for a frame that does not exist. `frameCount` is the number of frames, if
  /// it is known.
  static func noFrame(_ name: String, _ frame: Int, of frameCount: Int?) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) has no frame \(frame).",
      hint: "It has \(frameCount.map(String.init) ?? "fewer") frames.")
  }

  /// Returns the failure for audio that ends after frame `frame`, although `frameCount` frames are
  /// announced.
  static func cutShort(
    _ name: String, _ frame: Int, _ frameCount: Int
  ) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short after \(frame) of \(frameCount) frames.",
      hint: .restElsewhere(isAny: frame > 0))
  }

  /// Returns the failure for a file that has its end, but lacks parts before it.
  static func damaged(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) is damaged: parts of its sound are lost before its end.",
      hint: "Get another copy of the file.")
  }

  /// Returns the failure for a file that was opened again after an interruption and has changed.
  static func replaced(_ name: String) -> FileFailure {
    FileFailure(
      .readFailed, "\(name) was replaced by another file while it was read.",
      hint: "Play it again from the beginning.")
  }

  /// Returns the failure to reach frame `frame`, although `frameCount` frames are announced.
  static func unreachable(_ name: String, _ frame: Int, _ frameCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short: it has no frame \(frame), though it announces \(frameCount).",
      hint: "Play the file from its beginning, or get another copy of it.")
  }
}

/// A decoder of an audio file on disk or from another byte source.
final class FileDecoder: PlainSoundDecoder {
  private var file: SoundFileReader
  private let bytes: BufferedBytes
  private let byteRate: Double
  let tags: SoundFileTags
  let bitRate: Int?

  /// Creates a decoder of an open file.
  init(_ file: consuming SoundFileReader) {
    bytes = file.bytes
    tags = file.tags
    let seconds = file.frameCount.map { Double($0) / Double(file.sampleRate) } ?? 0
    let (sampleRate, channelCount) = (file.sampleRate, file.channelCount)
    let counted = bytes.byteCount.flatMap {
      FileBounds.bitRate(
        bytes: $0, seconds: seconds, sampleRate: sampleRate, channelCount: channelCount)
    }
    // The byte rate of raw samples is known from their format. That of FLAC is lower.
    let bare = file.sampleFormat.map {
      8 * $0.byteCount * file.channelCount * file.sampleRate
    }
    let rate = counted ?? (file.fileFormat == .flac ? nil : bare)
    bitRate = rate
    byteRate = Double(rate ?? bytes.source.announcedBitRate ?? bare ?? 128_000) / 8
    self.file = file
    self.file.damage.isSkipped = true
  }

  convenience init(_ bytes: BufferedBytes) throws(FileFailure) {
    self.init(try SoundFileReader(bytes))
    try bytes.prepare()
  }

  /// Opens `path`, or standard input if `path` is `-`. Throws the same errors as `SoundFileReader`.
  convenience init(path: String) throws(FileFailure) {
    self.init(try SoundFileReader(path: path))
  }

  var name: String { file.path }
  var sampleRate: Int { file.sampleRate }
  var channelCount: Int { file.channelCount }
  var speakers: [Speaker]? { file.speakers }
  var frameCount: Int? { file.frameCount }
  var announcedFrameCount: Int? { file.announcedFrameCount }
  var isCutShort: Bool { announcedFrameCount != nil || file.isDamaged }
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
  /// Reads like `read`, and stops the program with a message if the decoder returns a number of
  /// frames that is negative or larger than requested. Throws the errors that reading throws.
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
