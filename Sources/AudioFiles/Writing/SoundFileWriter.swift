import AudioBasics
import Glibc
import RealtimeAudio

/// A sound file being written.
///
/// 16- and 24-bit samples that came from a file or a converter are written to the bit; what lies
/// beyond full scale becomes full scale, what is no number becomes silence. Every write is checked,
/// and what was written before a failure stays readable. It gets its name, and a file of that name
/// is replaced, when there is something to be read in it (`Appearance`); only `finish` tells
/// whether it is complete. One thread at a time, never the audio thread.
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
  /// The same, where samples of 16 bits need not be converted.
  private let wordSink: WaveFile?
  /// Draft of the file, as long as that has not got its name.
  var draft: DraftFile?
  /// Why it has no name though it should have.
  var missingName: MissingName?
  /// What its beginning has to stay, once it has its name.
  var start: FileStart?
  /// Where the last frame of a Wave64 file ends.
  var soundEnd = 0
  private let appearance: Appearance
  private let chunk: PackingSpace
  /// The most frames that it can hold.
  var frameLimit: Int

  /// When a file gets its name. Until then nothing of it is to be found, and what was there is as
  /// it was.
  public enum Appearance: Sendable {
    /// As soon as what is in it can be read: after the first frames, or with `refreshHeader` where
    /// a file without any can be read.
    case readable
    /// When it is finished; let go of before, it vanishes.
    case finished
  }

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

  /// Creates the file that is to be called `path`.
  ///
  /// Throws `.invalidRequest` for what the format cannot hold, before anything is created;
  /// `.cannotCreate` or `.permissionDenied` and leaves nothing behind. An existing file is refused
  /// without `overwrite`, and replaced with it, at the time that `appearance` says; one that
  /// another writer has open is refused. `tags` go into every format but Wave64 and raw, which have
  /// no place for them, as far as they fit (`SoundFileTags.fitting`). WAV says for which `speakers`
  /// more than two channels are meant; without them for none in particular.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int, overwrite: Bool, tags: SoundFileTags = SoundFileTags(),
    speakers: [Speaker]? = nil, appearance: Appearance = .readable
  ) throws(FileFailure) {
    try fileFormat.check(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
    let request = SinkRequest(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
      channelCount: channelCount, tags: tags.fitting(fileFormat), speakers: speakers)
    let output = try OutputFile(path, overwrite: overwrite)
    let sink = try request.begin(on: output.descriptor, isRegular: output.isRegular)
    self.init(request, sink, draft: output.takeDraft(), appearance)
  }

  /// Writes to a descriptor that stays the caller's, such as standard output: raw, or WAV, which
  /// says on a pipe that its length is unknown. Throws `.invalidRequest` for other formats, and
  /// `.closedPipe` where it has no reader. The caller ignores SIGPIPE.
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
    wordSink = (sink as? WaveFile).flatMap { $0.takesWords ? $0 : nil }
    self.draft = draft
    self.appearance = appearance
    chunk = PackingSpace(channelCount: request.channelCount)
    let frameByteCount = request.channelCount * request.sampleFormat.byteCount
    // Its lengths have 32 bits; a little is for the header.
    frameLimit = request.fileFormat == .aiff ? (Int(UInt32.max) - 65536) / frameByteCount : .max
    path = request.path
    fileFormat = request.fileFormat
    sampleFormat = request.sampleFormat
    sampleRate = request.sampleRate
    channelCount = request.channelCount
  }

  /// Frames written.
  public var framesWritten: Int { sink.frameCount }

  /// Appends `frames` frames of `buffer` from `firstFrame` on. Throws `.diskFull`, `.writeFailed`
  /// or `.closedPipe`; the frames before that are in the file, and `framesWritten` counts them.
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

  /// Whether the file has the memory's own samples of 16 bits, and `write` takes them.
  package var takesWords: Bool { wordSink != nil }

  /// Appends `frames` frames of 16 bits, full scale being 32,768, from frame `firstFrame` of
  /// `words` on, to a file that `takesWords`: what it appends of the same samples as floating-point
  /// numbers. Throws as that does.
  package mutating func write(
    _ words: Span<Int16>, from firstFrame: Int = 0, frames: Int
  ) throws(FileFailure) {
    requirement(
      firstFrame >= 0 && frames >= 0 && (firstFrame + frames) * channelCount <= words.count,
      "The frames are outside of the samples.")
    guard let wordSink else { return }
    let width = channelCount
    try words.withUnsafeBufferPointer { words throws(FileFailure) in
      try write(frames) { done, count throws(SystemError) in
        let first = (firstFrame + done) * width
        try wordSink.append(UnsafeBufferPointer(rebasing: words[first..<first + count * width]))
      }
    }
  }

  /// Appends `frames` frames by `append`, which is told how many were appended before and how many
  /// it is to append.
  private mutating func write(
    _ frames: Int, _ append: (Int, Int) throws(SystemError) -> Void
  ) throws(FileFailure) {
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
        // Some of them are written all the same.
        noteSoundEnd()
        throw failure(error)
      }
      noteSoundEnd()
      done += count
      // Not before what was written is told of in its head.
      if draft != nil, appearance == .readable, framesWritten > 0 { try refreshHeader() }
    }
  }

  /// Makes the file valid as it stands, should the power fail now, and show what was told of it.
  /// Cheap enough to be called several times a second. Throws as `write` does.
  public mutating func refreshHeader() throws(FileFailure) {
    try mapSystemError(try sink.refresh()) { failure($0) }
    guard draft != nil, appearance == .readable, sink.isReadable else { return }
    try appear()
    if missingName == nil { start = FileStart(of: sink.descriptor) }
  }

  /// Gets its name. Where it cannot have it, nothing that was written is lost: see `restore`.
  /// Throws as `write` does where the disk refuses what was written.
  private mutating func appear(isLast: Bool = false) throws(FileFailure) {
    guard let draft = self.draft.take() else { return }
    do throws(SystemError) {
      try draft.synchronize()
    } catch {
      // What may not be on the disk replaces nothing, and is better than nothing.
      if draft.isReplacing {
        guard !isLast else { throw appearBeside(draft, error) }
        missingName = MissingName(path, error)
        throw .creating(path, error)
      }
      appear(draft)
      throw failure(error)
    }
    appear(draft)
  }

  /// Gets another name, where the disk refused what was to replace something. Returns what to say.
  private mutating func appearBeside(
    _ draft: consuming DraftFile, _ error: SystemError
  ) -> FileFailure {
    let failure = FileFailure.creating(path, error)
    guard let place = try? draft.appearBeside() else { return failure }
    path = place
    return FileFailure(
      failure.kind, "\(failure.message) The recording is in \(place) now.", hint: failure.hint,
      remedy: failure.remedy)
  }

  private mutating func appear(_ draft: consuming DraftFile) {
    do throws(SystemError) {
      try draft.appear()
    } catch {
      missingName = MissingName(path, error)
    }
  }

  /// Waits until what was written is on the disk. Throws as `write` does.
  public mutating func synchronize() throws(FileFailure) {
    try mapSystemError(try sink.synchronize()) { failure($0) }
  }

  /// Completes and closes the file. Throws as `write` does, and what `init` throws where it cannot
  /// get its name.
  public consuming func finish() throws(FileFailure) {
    try complete()
  }

  /// The same, after which `framesWritten` says how many frames are in the file, and nothing else
  /// can be done with it. Throws as that does.
  public mutating func complete() throws(FileFailure) {
    var trouble: FileFailure?
    cutOffForeignBytes()
    do throws(SystemError) {
      try sink.close()
    } catch {
      trouble = failure(error)
    }
    // What fitted is saved.
    if trouble == nil || (appearance == .readable && framesWritten > 0) {
      do throws(FileFailure) {
        try appear(isLast: true)
      } catch {
        trouble = trouble ?? error
      }
      trouble = trouble ?? missingName?.failure
    }
    draft = nil
    if let trouble { throw trouble }
  }

  func failure(_ error: SystemError) -> FileFailure {
    let failure = FileFailure.writing(path, error, saved: saved)
    // What has no name and gets none holds nothing.
    guard draft != nil, appearance == .finished || framesWritten == 0 else { return failure }
    let refusal = FileFailure.creating(path, error)
    // Of a file that was to be read while it grows, a beginning was written, and is lost.
    return appearance == .finished || byteCount == 0
      ? refusal : FileFailure(failure.kind, refusal.message, hint: refusal.hint)
  }

  /// What the file holds, in words.
  private var saved: String {
    let tenths = framesWritten * 10 / sampleRate
    // An encoder keeps the last few thousand to itself until it can write them.
    let about = fileFormat == .flac || fileFormat.isLossy ? "about " : ""
    return "\(about)its first \(framesWritten) frames (\(tenths / 10).\(tenths % 10) s)"
  }
}

/// Failure to give a file its name.
struct MissingName {
  /// Whether another file has taken the name.
  let isTaken: Bool
  let failure: FileFailure

  init(_ path: String, _ error: SystemError) {
    isTaken = error.number == EEXIST
    failure = .creating(path, error)
  }
}

/// Metadata of the file: origination, markers and loudness. It stands in the file from the next
/// `refreshHeader` on.
extension SoundFileWriter {
  /// Notes when the first frame was captured: in WAV and RF64, as broadcasters do. Other formats,
  /// and files on a pipe, have no place for it.
  public mutating func setOrigination(_ origination: Origination) {
    sink.notes.origination = origination
  }

  /// Sets a marker: in WAV and RF64. Other formats, and files on a pipe, do without, and so do
  /// frames beyond the four billion that such a file can number.
  public mutating func mark(_ marker: SoundFileMarker) {
    sink.notes.markers.append(marker)
  }

  /// Notes how loud the recording is: in WAV and RF64, as broadcasters do; nil is what is not
  /// known. `momentaryLUFS` and `shortTermLUFS` are the highest there were.
  public mutating func setLoudness(
    integratedLUFS: Double?, rangeLU: Double?, truePeakDBTP: Double?, momentaryLUFS: Double?,
    shortTermLUFS: Double?
  ) {
    sink.notes.loudness = BroadcastLoudness(
      integrated: integratedLUFS, range: rangeLU, truePeak: truePeakDBTP,
      momentary: momentaryLUFS, shortTerm: shortTermLUFS)
  }
}

/// Destination of an output: a file that is to be, or a pipe or a device that is there already.
struct OutputFile: ~Copyable {
  private var draft: DraftFile?
  private let stream: FileDescriptor?
  /// What it is written through.
  let descriptor: Int32

  /// What `path` names. Without `overwrite`, a file of that name is refused; pipes and devices may
  /// always be written to.
  init(_ path: String, overwrite: Bool) throws(FileFailure) {
    if let found = FileStatus(of: path), !found.isRegular, !found.isFolder {
      let opened = try Self.open(path)
      descriptor = opened.number
      stream = consume opened
      draft = nil
    } else {
      let made = try DraftFile(for: path, overwrite: overwrite)
      descriptor = made.descriptor.number
      draft = consume made
      stream = nil
    }
  }

  /// Whether it is a file one can go back in, and no pipe or device.
  var isRegular: Bool { stream == nil }

  consuming func takeDraft() -> DraftFile? { draft.take() }

  /// Opens a pipe or a device. A pipe without a reader is waited for a little, not for ever, and
  /// no longer than the user wants.
  private static func open(_ path: String) throws(FileFailure) -> FileDescriptor {
    var attempts = 0
    while true {
      do throws(SystemError) {
        let opened = try FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK | O_NOCTTY)
        _ = fcntl(opened.number, F_SETFL, fcntl(opened.number, F_GETFL) & ~O_NONBLOCK)
        return opened
      } catch {
        attempts += 1
        guard error.number == ENXIO, attempts < 60, !SignalWatch.isEndWaiting else {
          throw .creating(path, error)
        }
        usleep(50_000)
      }
    }
  }
}
