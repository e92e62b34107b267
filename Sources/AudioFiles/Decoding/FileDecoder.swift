import AudioBasics

/// A sound file on disk as a decoder.
public final class FileDecoder: SoundDecoder {
  private var file: SoundFileReader

  /// What the file is called.
  public let name: String
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int
  /// Frames in all; nil where the file does not say.
  public let frameCount: Int?
  /// Whether it can be read from any frame on.
  public let supportsSeeking: Bool
  /// What the file says about itself.
  public let tags: SoundFileTags
  /// Bits a second, on average.
  public let bitRate: Int?

  /// The decoder of a file that is open.
  public init(_ file: consuming SoundFileReader) {
    name = file.path
    sampleRate = file.sampleRate
    channelCount = file.channelCount
    frameCount = file.frameCount
    supportsSeeking = file.isSeekable
    tags = file.tags
    let seconds = file.frameCount.map { Double($0) / Double(file.sampleRate) } ?? 0
    bitRate = TextFile.size(of: file.path).flatMap { bytes in
      seconds > 0 ? Int((Double(bytes) * 8 / seconds).rounded()) : nil
    }
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
}
