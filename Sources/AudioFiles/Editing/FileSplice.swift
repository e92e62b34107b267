import AudioBasics

/// A sound file in which one stretch is replaced by the contents of another file. Everything else
/// is preserved exactly: the other samples, tags as far as `SoundFileWriter` writes them, and in
/// WAV and RF64 files the time of the first frame and the markers outside of the stretch. The
/// markers of the other file are copied as well.
///
/// The new file is written in the same folder as the old one and replaces it when it is complete:
/// after a failure, the old one is still there. One thread at a time, never the audio thread.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// for (path, seconds) in [("song.wav", 2.0), ("verse.wav", 0.5)] {
///   try await engine.record(to: path)
///   try await engine.run(seconds: seconds)
/// }
/// let splice = try FileSplice(path: "song.wav")
/// try splice.replace(from: 48000, with: "verse.wav", minimumFrames: 0, isNew: false)
/// let frames = try SoundFileReader(path: "song.wav").frameCount
/// precondition(frames == 96000)
/// ```
public struct FileSplice: Sendable {
  /// The file to be written.
  public let path: String
  /// The file whose other frames it contains; `path` itself, unless another one was named.
  private let original: String
  /// Whether an existing file at `path` is replaced.
  private let overwrite: Bool
  /// The file format.
  public let fileFormat: FileFormat
  /// The sample format.
  public let sampleFormat: FileSampleFormat
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of channels, which is the number of samples in a frame.
  public let channelCount: Int
  private let speakers: [Speaker]?
  /// The parts of the file other than audio that the new file will not contain: chunks such as
  /// `iXML`, entries of lists of tags such as `IGNR`, blocks of a FLAC file such as `PICTURE`, and
  /// comments such as `GENRE`.
  public let lostParts: [String]

  /// Prepares a splice into the file at `path`, or into a copy of it at `copyPath`, where an
  /// existing file is replaced only with `overwrite`. Throws as `SoundFileReader` does, and
  /// `.unusableContents` for a format that cannot be written again without loss.
  public init(
    path: String, copyPath: String? = nil, overwrite: Bool = false
  ) throws(FileFailure) {
    let file = try SoundFileReader(path: path)
    guard let fileFormat = file.fileFormat, let sampleFormat = file.sampleFormat,
      !fileFormat.isLossy, sampleFormat != .s32
    else {
      // The message says "Opus" instead of "Opus, Opus".
      let isNamed = file.formatName.hasSuffix(file.encodingName)
      throw FileFailure(
        .unusableContents,
        "\(path) is \(file.formatName)\(isNamed ? "" : ", " + file.encodingName): it cannot be written again unchanged.",
        hint: "Convert it with sox to a WAV file of 16 or 24 bits or of floats.")
    }
    self.path = copyPath ?? path
    original = path
    self.overwrite = copyPath == nil || overwrite
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    sampleRate = file.sampleRate
    channelCount = file.channelCount
    speakers = file.speakers ?? Speaker.defaultLayout(channelCount: channelCount)
    lostParts = try LostParts.names(
      in: file.bytes, fileFormat, channelCount: file.channelCount)
  }

  /// Prepares a splice into silence; `path` is a file that does not exist yet.
  public init(
    newPath path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int
  ) {
    self.path = path
    original = path
    overwrite = false
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    speakers = nil
    lostParts = []
  }

  /// Replaces the frames from `firstFrame` on by those of the file `region`, which is removed
  /// afterwards. The new file has at least `minimumFrames` frames; silence fills missing frames.
  /// `isNew` means that there is no file yet. `isStopped` is called repeatedly and stops the
  /// operation if it returns true. Throws as reading and writing do, `.invalidRequest` for a frame
  /// below 0 and for a region that is the file itself or has another rate or number of channels,
  /// and `.interrupted`: the old file is unchanged then.
  public func replace(
    from firstFrame: Int, with region: String, minimumFrames: Int, isNew: Bool,
    isStopped: () -> Bool = { false }
  ) throws(FileFailure) {
    guard firstFrame >= 0, !SoundFileReader.isSame(region, path) else {
      throw FileFailure(
        .invalidRequest, "\(region) cannot be put into \(path) at frame \(firstFrame).",
        hint: "Name another file, and a frame from 0 on.")
    }
    do throws(FileFailure) {
      try write(
        from: firstFrame, region, minimumFrames: minimumFrames, isNew: isNew, isStopped)
    } catch {
      throw FileFailure(
        error.kind, "The region could not be put into \(path): \(error.message)",
        hint:
          isNew || original != path
          ? "The region alone is \(region)."
          : "The take is as it was; the region alone is \(region)."
      )
    }
    try? FileSystem.remove(region)
  }

  private func write(
    from firstFrame: Int, _ region: String, minimumFrames: Int, isNew: Bool, _ isStopped: () -> Bool
  ) throws(FileFailure) {
    var new = try SoundFileReader(path: region)
    guard new.sampleRate == sampleRate, new.channelCount == channelCount else {
      throw FileFailure(
        .invalidRequest,
        "\(region) has \(new.sampleRate) Hz and \(new.channelCount.counted("channel")), "
          + "not \(sampleRate) Hz and \(channelCount.counted("channel")).",
        hint: "Convert it with sox to what \(path) has.")
    }
    let marked = new.markers
    var buffer = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    var writer: SoundFileWriter
    if isNew {
      writer = try makeWriter(SoundFileTags(), isStopped)
      try fill(&writer, to: firstFrame, &buffer, isStopped)
      try copy(&new, to: .max, into: &writer, &buffer, isStopped)
      mark(&writer, [], marked, from: firstFrame)
    } else {
      var old = try SoundFileReader(path: original)
      writer = try makeWriter(old.tags, isStopped)
      if let origination = old.origination { writer.setOrigination(origination) }
      try copy(&old, to: firstFrame, into: &writer, &buffer, isStopped)
      try fill(&writer, to: firstFrame, &buffer, isStopped)
      try copy(&new, to: .max, into: &writer, &buffer, isStopped)
      mark(&writer, old.markers, marked, from: firstFrame)
      if let length = old.frameCount, writer.framesWritten < length {
        try old.seek(toFrame: writer.framesWritten)
        try copy(&old, to: .max, into: &writer, &buffer, isStopped)
      }
    }
    try fill(&writer, to: minimumFrames, &buffer, isStopped)
    try writer.finish()
  }

  private func makeWriter(
    _ tags: SoundFileTags, _ isStopped: () -> Bool
  ) throws(FileFailure) -> SoundFileWriter {
    try SoundFileWriter(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount, overwrite: overwrite, tags: tags, speakers: speakers,
      appearance: .finished, shouldStopWaiting: isStopped)
  }

  /// Sets the `old` markers except those within the region, which begins at `firstFrame` and was
  /// just written, and the `new` ones, whose frames are relative to `firstFrame`.
  private func mark(
    _ writer: inout SoundFileWriter, _ old: [SoundFileMarker], _ new: [SoundFileMarker],
    from firstFrame: Int
  ) {
    let region = firstFrame..<max(firstFrame, writer.framesWritten)
    for marker in old where !region.contains(marker.frame) { writer.mark(marker) }
    for marker in new {
      writer.mark(SoundFileMarker(frame: firstFrame + marker.frame, label: marker.label))
    }
  }

  private func copy(
    _ file: inout SoundFileReader, to end: Int, into writer: inout SoundFileWriter,
    _ buffer: inout SampleBuffer, _ isStopped: () -> Bool
  ) throws(FileFailure) {
    while file.position < end {
      guard !isStopped() else { throw .interrupted(path) }
      let count = try file.read(
        into: &buffer, frames: min(buffer.frameCount, end - file.position))
      guard count > 0 else { return }
      try writer.write(buffer, frames: count)
    }
  }

  private func fill(
    _ writer: inout SoundFileWriter, to frame: Int, _ buffer: inout SampleBuffer,
    _ isStopped: () -> Bool
  ) throws(FileFailure) {
    buffer.clear(frames: buffer.frameCount)
    while writer.framesWritten < frame {
      guard !isStopped() else { throw .interrupted(path) }
      try writer.write(buffer, frames: min(buffer.frameCount, frame - writer.framesWritten))
    }
  }
}
