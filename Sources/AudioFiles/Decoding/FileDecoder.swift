import AudioBasics

/// A sound file as a decoder: one on disk, or bytes from elsewhere.
public final class FileDecoder: SoundDecoder {
  private var file: SoundFileReader
  private let bytes: BufferedBytes
  private let byteRate: Double

  /// What the file is called.
  public let name: String
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Frames in all; nil where the file does not say.
  public let frameCount: Int?
  /// Frames that its head announces, where its bytes are too few for them.
  public let announcedFrameCount: Int?
  /// Whether it can be read from any frame on.
  public let supportsSeeking: Bool
  /// What the file says about itself.
  public let tags: SoundFileTags
  /// What kind of file it is and how it keeps samples, for people.
  public let formatName: String
  /// Bits a second, on average.
  public let bitRate: Int?

  /// Opens sound that comes from anywhere. Throws as `SoundFileReader` does.
  public convenience init(bytes: any ByteSource) throws(FileFailure) {
    try self.init(BufferedBytes(bytes))
  }

  convenience init(_ bytes: BufferedBytes) throws(FileFailure) {
    self.init(try SoundFileReader(bytes))
    try bytes.prepare()
  }

  /// The decoder of a file that is open.
  public init(_ file: consuming SoundFileReader) {
    bytes = file.bytes
    name = file.path
    sampleRate = file.sampleRate
    channelCount = file.channelCount
    frameCount = file.frameCount
    announcedFrameCount = file.announcedFrameCount
    supportsSeeking = file.isSeekable
    tags = file.tags
    formatName =
      file.encodingName == file.formatName
      ? file.formatName : "\(file.formatName), \(file.encodingName)"
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

  /// Opens `path`; standard input where it is `-`. Throws as `SoundFileReader` does.
  public convenience init(path: String) throws(FileFailure) {
    self.init(try SoundFileReader(path: path))
  }

  /// The frame that the next read begins with.
  public var position: Int { file.position }

  /// Fills `buffer` from frame `target` on with at most `frames` frames; 0 at the end. Throws as
  /// `SoundFileReader.read` does.
  public func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    try file.read(into: &buffer, at: target, frames: frames)
  }

  /// Goes to `frame`. Throws as `SoundFileReader.seek` does.
  public func seek(toFrame frame: Int) throws(FileFailure) {
    try file.seek(toFrame: frame)
  }

  /// Whether so much is there that reading on need not wait soon. Any thread.
  public func isReady(prebuffer seconds: Double?) -> Bool {
    bytes.isReady(bytesPerSecond: byteRate, prebuffer: seconds)
  }

  /// Where the bytes come from.
  public var byteSource: (any ByteSource)? { bytes.source }

  /// The places that the file names.
  public var markers: [SoundFileMarker] { file.markers }
}
