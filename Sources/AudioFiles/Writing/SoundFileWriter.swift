import AudioBasics
import Glibc

/// A sound file being written.
///
/// 16- and 24-bit samples that came from a file or a converter are written to the bit; what lies
/// beyond full scale becomes full scale, what is no number becomes silence. Every write is checked,
/// and what was written before a failure stays readable. Goes out of scope with a file that is
/// complete, but only `finish` tells whether it is. One thread at a time, never the audio thread.
public struct SoundFileWriter: ~Copyable, @unchecked Sendable {
  // @unchecked because what it owns has one owner, which moves with the value.
  // One of the two.
  private var pcm: PCMFile?
  private var encoded: EncodedFile?
  private let chunk: PackingSpace
  private let limit: Int

  /// What the file is called.
  public let path: String
  /// What kind of file it is.
  public let fileFormat: FileFormat
  /// How it keeps samples.
  public let sampleFormat: FileSampleFormat
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int

  /// Creates the file `path`.
  ///
  /// Throws `.invalidRequest` for what the format cannot hold, before anything is created;
  /// `.cannotCreate`, `.permissionDenied` or `.diskFull` and leaves nothing behind. An existing file
  /// is refused without `overwrite`, and emptied with it.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int, overwrite: Bool
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let sink = try SampleSink(
      creating: path, fileFormat, sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
      overwrite: overwrite)
    self.init(
      sink, path: path, fileFormat, sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount)
  }

  /// Writes to a descriptor that stays the caller's, such as standard output: raw, or WAV, which
  /// says on a pipe that its length is unknown. Throws `.invalidRequest` for other formats, and
  /// `.closedPipe` where nobody reads. The caller ignores SIGPIPE.
  public init(
    standardOutput descriptor: Int32 = 1, fileFormat: FileFormat, sampleFormat: FileSampleFormat,
    sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let sink = try SampleSink(
      descriptor, fileFormat, sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    self.init(
      sink, path: "standard output", fileFormat, sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount)
  }

  private init(
    _ sink: consuming SampleSink, path: String, _ fileFormat: FileFormat,
    _ sampleFormat: FileSampleFormat, sampleRate: Int, channelCount: Int
  ) {
    pcm = sink.pcm.take()
    encoded = sink.encoded.take()
    chunk = PackingSpace(channelCount: channelCount)
    let frameByteCount = channelCount * sampleFormat.byteCount
    // Its lengths have 32 bits; a little is for the header.
    limit = fileFormat == .aiff ? (Int(UInt32.max) - 65536) / frameByteCount : .max
    self.path = path
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Frames written.
  public var framesWritten: Int {
    switch pcm {
    case .some(let file): return file.frameCount
    case nil: break
    }
    switch encoded {
    case .some(let file): return file.frameCount
    case nil: return 0
    }
  }

  /// Appends `frames` frames of `buffer` from `firstFrame` on. Throws `.diskFull`, `.writeFailed` or
  /// `.closedPipe`; the frames before that are in the file, and `framesWritten` counts them.
  public mutating func write(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) throws(FileFailure) {
    precondition(buffer.channelCount == channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame + frames <= buffer.frameCount)
    var done = 0
    while done < frames {
      let count = min(frames - done, chunk.frameCount)
      guard framesWritten + count <= limit else {
        throw FileFailure(
          .writeFailed, "\(path) has reached 4 GiB, the most an AIFF file can hold.",
          hint: "It is complete; use WAV, CAF or FLAC for longer recordings.")
      }
      let samples = UnsafePointer(buffer.base + (firstFrame + done) * channelCount)
      do throws(SystemError) {
        try append(samples, frames: count)
      } catch {
        throw failure(error)
      }
      done += count
    }
  }

  /// Makes the file valid as it stands, should the power fail now. Throws as `write` does.
  public mutating func refreshHeader() throws(FileFailure) {
    do throws(SystemError) {
      try pcm?.refreshHeader()
      try encoded?.refreshHeader()
    } catch {
      throw failure(error)
    }
  }

  /// Waits until what was written is on the disk. Throws as `write` does.
  public mutating func synchronize() throws(FileFailure) {
    do throws(SystemError) {
      try pcm?.synchronize()
      try encoded?.synchronize()
    } catch {
      throw failure(error)
    }
  }

  /// Completes and closes the file. Throws as `write` does.
  public consuming func finish() throws(FileFailure) {
    let words = saved
    let path = self.path
    do throws(SystemError) {
      if let pcm = pcm.take() { try pcm.close() }
      if let encoded = encoded.take() { try encoded.close() }
    } catch {
      throw .writing(path, error, saved: words)
    }
  }

  private mutating func append(
    _ samples: UnsafePointer<Float>, frames: Int
  ) throws(SystemError) {
    if pcm != nil {
      let count = frames * channelCount
      sampleFormat.pack(samples, count: count, into: chunk.base)
      try pcm?.append(chunk.base, count: count * sampleFormat.byteCount)
    } else {
      try encoded?.append(samples, frames: frames, scratch: chunk.base)
    }
  }

  private func failure(_ error: SystemError) -> FileFailure {
    .writing(path, error, saved: saved)
  }

  /// What the file holds, in words.
  private var saved: String {
    let tenths = framesWritten * 10 / sampleRate
    // An encoder keeps the last few thousand to itself until it can write them.
    let about = fileFormat == .flac || fileFormat.isLossy ? "about " : ""
    return "\(about)its first \(framesWritten) frames (\(tenths / 10).\(tenths % 10) s)"
  }
}
