import AudioBasics
import Glibc

/// A sound file being written.
///
/// 16- and 24-bit samples that came from a file or a converter are written without any change.
/// Values beyond full scale become full scale in files of integers, and stay in files of floats;
/// lossy formats may limit them. Not a number (NaN) becomes silence in all formats. Every write
/// is checked, and the samples written before a failure stay readable. The file gets its name, and
/// replaces a file of that name, when it can be read or when it is finished (`Appearance`); only
/// `finish` reports whether it is complete. One thread at a time, never the audio thread.
///
/// ```swift
/// var writer = try SoundFileWriter(
///   path: "silence.wav", fileFormat: .wav, sampleFormat: .s24, sampleRate: 48000,
///   channelCount: 2, overwrite: false)
/// try writer.write(SampleBuffer(frameCount: 480, channelCount: 2), frames: 480)
/// try writer.finish()
/// ```
public struct SoundFileWriter: ~Copyable, @unchecked Sendable {
  // @unchecked because what it owns has one owner, which moves with the value.
  let sink: any SampleSink
  /// The same sink, if it accepts 16-bit samples without conversion.
  private let integerSink: WaveFile?
  /// The draft of the file, until the file gets its name.
  var draft: DraftFile?
  /// The reason that the file could not get its name.
  var missingName: MissingName?
  /// The first bytes of the file, which must not change once it has its name.
  var start: FileStart?
  /// The offset at which the last frame of a Wave64 file ends.
  var soundEnd = 0
  /// Whether the file was closed; the number of its descriptor may then be another file's.
  private(set) var isComplete = false
  private let appearance: Appearance
  private let chunk: PackingSpace
  /// The most frames that the file can hold.
  var frameLimit: Int

  /// The time at which a file gets its name. Before that, there is no new file of that name, and an
  /// existing file is unchanged.
  public enum Appearance: Sendable {
    /// As soon as the contents can be read: after the first frames, or at `refreshHeader` if the
    /// format can be read without any frames.
    case readable
    /// When the file is finished. If the writer is released before that, the file is deleted.
    case finished
  }

  /// The path of the file.
  public internal(set) var path: String
  /// The file format.
  public let fileFormat: FileFormat
  /// The sample format.
  public let sampleFormat: FileSampleFormat
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The number of channels, which is the number of samples in a frame.
  public let channelCount: Int

  /// Creates the file that will have the path `path`.
  ///
  /// Throws `.invalidRequest`, before anything is created, if the format cannot hold the request;
  /// throws `.cannotCreate` or `.permissionDenied` without leaving a file. An existing file is
  /// refused without `overwrite`; with it, the file is replaced at the time that `appearance`
  /// specifies. A file that another writer has open is refused. `tags` are written, as far as they
  /// fit (`SoundFileTags.fitting`), in every format but Wave64 and raw, which cannot store them.
  /// WAV stores the `speakers` of more than two channels, one for each channel; none by default.
  /// Opus has 6 to 8 channels only for the `speakers` of surround sound. If `path` is a pipe
  /// without a reader, waits up to 3 seconds for one. `shouldStopWaiting`, called every 50 ms, ends
  /// the wait earlier.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int, overwrite: Bool, tags: SoundFileTags = SoundFileTags(),
    speakers: [Speaker]? = nil, appearance: Appearance = .readable,
    shouldStopWaiting: () -> Bool = { false }
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
      speakers: speakers)
    if let speakers, speakers.count != channelCount {
      throw FileFailure(
        .invalidRequest,
        "\(speakers.count) speakers were named for a file of \(channelCount.counted("channel")).",
        hint: "Name one speaker for each channel, or leave the speakers out.")
    }
    let request = SinkRequest(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount, tags: tags.fitting(fileFormat), speakers: speakers)
    let output = try OutputFile(path, overwrite: overwrite, shouldStopWaiting)
    let sink = try request.begin(on: output.descriptor, isRegular: output.isRegular)
    self.init(request, sink, draft: output.takeDraft(), appearance)
  }

  /// Writes to a descriptor that remains the caller's, such as standard output: raw, or WAV, whose
  /// header on a pipe states that the length is unknown. Throws `.invalidRequest` for other
  /// formats, and `.closedPipe` if the pipe has no reader. The caller must ignore SIGPIPE.
  public init(
    standardOutput descriptor: Int32 = 1, fileFormat: FileFormat, sampleFormat: FileSampleFormat,
    sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let request = SinkRequest(
      path: "standard output", fileFormat: fileFormat, sampleFormat: sampleFormat,
      sampleRate: sampleRate, channelCount: channelCount, tags: SoundFileTags())
    let sink = try request.begin(on: descriptor, isRegular: false)
    self.init(request, sink, draft: nil, .readable)
  }

  private init(
    _ request: SinkRequest, _ sink: any SampleSink, draft: consuming DraftFile?,
    _ appearance: Appearance
  ) {
    _ = Self.nothing
    self.sink = sink
    integerSink = (sink as? WaveFile).flatMap { $0.acceptsIntegers ? $0 : nil }
    self.draft = draft
    self.appearance = appearance
    chunk = PackingSpace(channelCount: request.channelCount)
    let frameByteCount = request.channelCount * request.sampleFormat.byteCount
    frameLimit =
      request.fileFormat.maximumByteCount.map { ($0 - Self.metadataByteCount) / frameByteCount }
      ?? .max
    path = request.path
    fileFormat = request.fileFormat
    sampleFormat = request.sampleFormat
    sampleRate = request.sampleRate
    channelCount = request.channelCount
  }

  /// The number of frames written.
  public var framesWritten: Int { sink.frameCount }

  /// Appends `frames` frames of `buffer` from `firstFrame` on. Throws `.diskFull`, `.writeFailed`
  /// or `.closedPipe`; the frames before the failure are in the file, and `framesWritten` counts
  /// them. Throws `.invalidRequest` after `complete`.
  public mutating func write(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) throws(FileFailure) {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the file must have the same number of channels.")
    buffer.requireFrames(from: firstFrame, frames)
    let samples = UnsafePointer(buffer.base + firstFrame * channelCount)
    let (sink, scratch, width) = (sink, chunk.base, channelCount)
    try write(frames) { done, count throws(SystemError) in
      try sink.append(samples + done * width, frames: count, scratch: scratch)
    }
  }

  /// Whether the file stores 16-bit samples exactly as memory does, so that `write` accepts them.
  package var acceptsIntegers: Bool { integerSink != nil }

  /// Appends `frames` frames of 16-bit samples, whose full scale is 32,768, from frame `firstFrame`
  /// of `integers` on. The result is the same as for equal floating-point samples. Does nothing
  /// unless the file `acceptsIntegers`. Throws the same errors as the other `write`.
  package mutating func write(
    _ integers: Span<Int16>, from firstFrame: Int = 0, frames: Int
  ) throws(FileFailure) {
    requirement(
      firstFrame >= 0 && frames >= 0 && (firstFrame + frames) * channelCount <= integers.count,
      "The frames are outside of the samples.")
    guard let integerSink else { return }
    let width = channelCount
    try integers.withUnsafeBufferPointer { integers throws(FileFailure) in
      try write(frames) { done, count throws(SystemError) in
        let first = (firstFrame + done) * width
        try integerSink.append(
          UnsafeBufferPointer(rebasing: integers[first..<first + count * width]))
      }
    }
  }

  /// Appends `frames` frames with calls of `append`, whose parameters are the number of frames
  /// appended before and the number of frames to append.
  private mutating func write(
    _ frames: Int, _ append: (Int, Int) throws(SystemError) -> Void
  ) throws(FileFailure) {
    try checkOpen()
    var done = 0
    while done < frames {
      let count = min(frames - done, chunk.frameCount, frameLimit - framesWritten)
      guard count > 0 else {
        throw FileFailure(
          .writeFailed, "\(path) has reached 4 GiB, the most an AIFF file can hold.",
          hint: "It is complete; use WAV, CAF or FLAC for longer recordings.")
      }
      do throws(SystemError) {
        try append(done, count)
      } catch {
        // Some of the frames are written nevertheless.
        noteSoundEnd()
        throw failure(error)
      }
      noteSoundEnd()
      done += count
      // The header must count the written frames before the file gets its name.
      if draft != nil, appearance == .readable, framesWritten > 0 { try refreshHeader() }
    }
  }

  /// Makes the file valid with its present contents, in case the power fails, and writes the
  /// metadata set so far. Cheap enough to be called several times a second. Throws as `write` does.
  public mutating func refreshHeader() throws(FileFailure) {
    try checkOpen()
    try mapSystemError(try sink.refresh()) { failure($0) }
    guard draft != nil, appearance == .readable, sink.isReadable else { return }
    try publish()
    if missingName == nil { start = FileStart(of: sink.descriptor) }
  }

  /// Gives the file its name. If it cannot have the name, no written data is lost: see `restore`.
  /// Throws if the disk refuses the written data: as `init` does if a file would be replaced, else
  /// as `write`.
  private mutating func publish(isLast: Bool = false) throws(FileFailure) {
    guard let draft = self.draft.take() else { return }
    do throws(SystemError) {
      try draft.synchronize()
    } catch {
      // Data that may not be on the disk must not replace a file, but is better than no file.
      if draft.isReplacing {
        guard !isLast else { throw publishUnderFreeName(draft, error) }
        missingName = MissingName(path, error)
        throw .creating(path, error)
      }
      publish(draft)
      throw failure(error)
    }
    publish(draft)
  }

  /// Gives the file another name, after the disk refused the data that would have replaced a file.
  /// Returns the failure to throw.
  private mutating func publishUnderFreeName(
    _ draft: consuming DraftFile, _ error: SystemError
  ) -> FileFailure {
    let failure = FileFailure.creating(path, error)
    guard let place = try? draft.publishUnderFreeName() else { return failure }
    path = place
    return FileFailure(
      failure.kind, "\(failure.message) The recording is in \(place) now.", hint: failure.hint,
      remedy: failure.remedy)
  }

  private mutating func publish(_ draft: consuming DraftFile) {
    do throws(SystemError) {
      try draft.assignName()
    } catch {
      missingName = MissingName(path, error)
    }
  }

  /// Waits until the written data is on the disk. Throws as `write` does.
  public mutating func synchronize() throws(FileFailure) {
    try checkOpen()
    try mapSystemError(try sink.synchronize()) { failure($0) }
  }

  /// Completes and closes the file. Throws as `write` does, and as `init` does if the file cannot
  /// get its name.
  public consuming func finish() throws(FileFailure) {
    try complete()
  }

  /// Completes and closes the file as `finish` does. Afterwards `framesWritten` is the number of
  /// frames in the file, and writes throw `.invalidRequest`; a further call does nothing. Throws as
  /// `finish` does.
  public mutating func complete() throws(FileFailure) {
    guard !isComplete else { return }
    var firstFailure: FileFailure?
    cutOffForeignBytes()
    isComplete = true
    do throws(SystemError) {
      try sink.close()
    } catch {
      firstFailure = failure(error)
    }
    // The frames that fit are saved.
    if firstFailure == nil || (appearance == .readable && framesWritten > 0) {
      do throws(FileFailure) {
        try publish(isLast: true)
      } catch {
        firstFailure = firstFailure ?? error
      }
      firstFailure = firstFailure ?? missingName?.failure
    }
    draft = nil
    if let firstFailure { throw firstFailure }
  }

  /// Throws `.invalidRequest` if the file is closed.
  func checkOpen() throws(FileFailure) {
    if isComplete {
      throw FileFailure(
        .invalidRequest, "The file is complete.", hint: "Create a writer for another file.")
    }
  }

  func failure(_ error: SystemError) -> FileFailure {
    let failure = FileFailure.writing(path, error, saved: saved)
    // A file that has no name and will get none holds nothing.
    guard draft != nil, appearance == .finished || framesWritten == 0 else { return failure }
    let refusal = FileFailure.creating(path, error)
    // The beginning of a file that others may read while it grows was written, and is lost.
    return appearance == .finished || byteCount == 0
      ? refusal : FileFailure(failure.kind, refusal.message, hint: refusal.hint)
  }

  /// The contents of the file, in words for messages.
  private var saved: String {
    let tenths = framesWritten * 10 / sampleRate
    // An encoder holds back the last few thousand frames until it can write them.
    let about = fileFormat == .flac || fileFormat.isLossy ? "about " : ""
    return "\(about)its first \(framesWritten) frames (\(tenths / 10).\(tenths % 10) s)"
  }
}

/// The failure to give a file its name.
struct MissingName {
  /// Whether another file has the name.
  let isTaken: Bool
  let failure: FileFailure

  init(_ path: String, _ error: SystemError) {
    isTaken = error.number == EEXIST
    failure = .creating(path, error)
  }
}

/// Metadata of the file: origination, markers and loudness. The next `refreshHeader` writes it.
extension SoundFileWriter {
  /// Sets the time at which the first frame was captured. WAV and RF64 store it as broadcast WAV
  /// does; other formats, and files on a pipe, cannot store it.
  public mutating func setOrigination(_ origination: Origination) {
    sink.notes.origination = origination
  }

  /// Sets a marker. WAV and RF64 store it; other formats, and files on a pipe, ignore it. A frame
  /// beyond 32 bits (about four billion) cannot be marked.
  public mutating func mark(_ marker: SoundFileMarker) {
    sink.notes.markers.append(marker)
  }

  /// Sets the loudness of the recording; nil means unknown. WAV and RF64 store it as broadcast WAV
  /// does. `momentaryLUFS` and `shortTermLUFS` are maxima.
  public mutating func setLoudness(
    integratedLUFS: Double?, rangeLU: Double?, truePeakDBTP: Double?, momentaryLUFS: Double?,
    shortTermLUFS: Double?
  ) {
    sink.notes.loudness = BroadcastLoudness(
      integrated: integratedLUFS, range: rangeLU, truePeak: truePeakDBTP,
      momentary: momentaryLUFS, shortTerm: shortTermLUFS)
  }
}
