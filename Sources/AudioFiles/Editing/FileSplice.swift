import AudioBasics
import Glibc

/// A sound file in which one stretch is replaced by what another file holds, and all else stays as it
/// is, to the bit.
///
/// The new file is written beside the old one and takes its place when it is complete: whatever goes
/// wrong, the old one is still there. One thread at a time, never the audio thread.
public struct FileSplice: Sendable {
  /// The file to be changed.
  public let path: String
  /// What kind of file it is.
  public let fileFormat: FileFormat
  /// How it keeps samples.
  public let sampleFormat: FileSampleFormat
  /// Frames a second.
  public let sampleRate: Int
  /// Samples in a frame.
  public let channelCount: Int

  /// A splice into the file at `path`. Throws as `SoundFileReader` does, and `.unusableContents` for a
  /// kind of file that cannot be written again without loss.
  public init(path: String) throws(FileFailure) {
    let file = try SoundFileReader(path: path)
    guard let fileFormat = file.fileFormat, let sampleFormat = file.sampleFormat,
      !fileFormat.isLossy, sampleFormat != .s32
    else {
      throw FileFailure(
        .unusableContents,
        "\(path) is \(file.formatName), \(file.encodingName): it cannot be written again "
          + "unchanged.",
        hint: "Convert it with sox to a WAV file of 16 or 24 bits or of floats.")
    }
    // The file itself, where the name is a link to it.
    self.path = Self.resolved(path)
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    sampleRate = file.sampleRate
    channelCount = file.channelCount
  }

  /// A splice into silence, `path` being a file that does not exist yet.
  public init(
    newPath path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int
  ) {
    self.path = path
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Puts the frames of the file `region` in the place of those from `firstFrame` on; the whole has
  /// at least `leastFrames` frames then, silent where there were none. `isNew` says that there is no
  /// file yet. Throws as reading and writing do, and the old file is untouched.
  public func replace(
    from firstFrame: Int, with region: String, leastFrames: Int, isNew: Bool
  ) throws(FileFailure) {
    let draft = "\(path).\(getpid()).new"
    do throws(FileFailure) {
      try write(draft, from: firstFrame, region, leastFrames: leastFrames, isNew: isNew)
    } catch {
      unlink(draft)
      throw FileFailure(
        error.kind, "The region could not be put into \(path): \(error.message)",
        hint: "\(isNew ? "" : "The take is as it was; ")the region alone is \(region).")
    }
    var status = stat()
    if stat(path, &status) == 0 { chmod(draft, status.st_mode & 0o7777) }
    guard rename(draft, path) == 0 else {
      let reason = SystemError.last.reason
      throw FileFailure(
        .cannotCreate, "\(path) cannot be replaced: \(reason).",
        hint: "The new version is \(draft), and the region alone is \(region).")
    }
    unlink(region)
  }

  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  private func write(
    _ draft: String, from firstFrame: Int, _ region: String, leastFrames: Int, isNew: Bool
  ) throws(FileFailure) {
    var writer = try SoundFileWriter(
      path: draft, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount, overwrite: true)
    var buffer = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    var new = try SoundFileReader(path: region)
    if isNew {
      try fill(&writer, to: firstFrame, &buffer)
      try copy(&new, to: .max, into: &writer, &buffer)
    } else {
      var old = try SoundFileReader(path: path)
      try copy(&old, to: firstFrame, into: &writer, &buffer)
      try fill(&writer, to: firstFrame, &buffer)
      try copy(&new, to: .max, into: &writer, &buffer)
      if let length = old.frameCount, writer.framesWritten < length {
        try old.seek(toFrame: writer.framesWritten)
        try copy(&old, to: .max, into: &writer, &buffer)
      }
    }
    try fill(&writer, to: leastFrames, &buffer)
    try writer.synchronize()
    try writer.finish()
  }

  private func copy(
    _ file: inout SoundFileReader, to end: Int, into writer: inout SoundFileWriter,
    _ buffer: inout SampleBuffer
  ) throws(FileFailure) {
    while file.position < end {
      let count = try file.read(
        into: &buffer, frames: min(buffer.frameCount, end - file.position))
      guard count > 0 else { return }
      try writer.write(buffer, frames: count)
    }
  }

  private func fill(
    _ writer: inout SoundFileWriter, to frame: Int, _ buffer: inout SampleBuffer
  ) throws(FileFailure) {
    buffer.clear(frames: buffer.frameCount)
    while writer.framesWritten < frame {
      try writer.write(buffer, frames: min(buffer.frameCount, frame - writer.framesWritten))
    }
  }
}
