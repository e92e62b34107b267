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
  let sink: any SampleSink
  private let chunk: PackingSpace
  private let limit: Int

  /// What the file is called.
  public internal(set) var path: String
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
  /// is refused without `overwrite`, and emptied with it. `tags` go into every format but Wave64 and
  /// raw, which have no place for them; WAV cuts long ones.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int, overwrite: Bool, tags: SoundFileTags = SoundFileTags()
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let request = SinkRequest(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount, tags: tags)
    self.init(request, try request.create(overwrite: overwrite))
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
    let request = SinkRequest(
      path: "standard output", fileFormat: fileFormat, sampleFormat: sampleFormat,
      sampleRate: sampleRate, channelCount: channelCount, tags: SoundFileTags())
    self.init(request, try request.begin(on: descriptor))
  }

  private init(_ request: SinkRequest, _ sink: any SampleSink) {
    self.sink = sink
    chunk = PackingSpace(channelCount: request.channelCount)
    let frameByteCount = request.channelCount * request.sampleFormat.byteCount
    // Its lengths have 32 bits; a little is for the header.
    limit = request.fileFormat == .aiff ? (Int(UInt32.max) - 65536) / frameByteCount : .max
    path = request.path
    fileFormat = request.fileFormat
    sampleFormat = request.sampleFormat
    sampleRate = request.sampleRate
    channelCount = request.channelCount
  }

  /// Frames written.
  public var framesWritten: Int { sink.frameCount }

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
        try sink.append(samples, frames: count, scratch: chunk.base)
      } catch {
        throw failure(error)
      }
      done += count
    }
  }

  /// Makes the file valid as it stands, should the power fail now, and show what was told of it. Cheap
  /// enough to be called several times a second. Throws as `write` does.
  public mutating func refreshHeader() throws(FileFailure) {
    do throws(SystemError) {
      try sink.refresh()
    } catch {
      throw failure(error)
    }
  }

  /// Waits until what was written is on the disk. Throws as `write` does.
  public mutating func synchronize() throws(FileFailure) {
    do throws(SystemError) {
      try sink.synchronize()
    } catch {
      throw failure(error)
    }
  }

  /// Completes and closes the file. Throws as `write` does.
  public consuming func finish() throws(FileFailure) {
    do throws(SystemError) {
      try sink.close()
    } catch {
      throw failure(error)
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
