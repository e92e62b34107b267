import AudioBasics
import AudioFiles
import AudioLevels

/// The growing file of a recording: its writer, and what is recorded in it. Disk thread.
struct GrowingSeriesFile: ~Copyable {
  private var writer: SoundFileWriter
  /// The path, the position and the present length of the file.
  private(set) var file: RecordedFile
  /// Whether the file may replace an existing one.
  private let isReplacing: Bool
  /// Whether the time of the first frame is known.
  private(set) var hasOriginated = false

  /// Begins with a file without frames.
  init(_ writer: consuming SoundFileWriter, _ file: RecordedFile, isReplacing: Bool) {
    self.writer = writer
    self.file = file
    self.isReplacing = isReplacing
  }

  /// Whether the file accepts 16-bit samples without conversion.
  var acceptsIntegers: Bool { writer.acceptsIntegers }

  /// The value of `SoundFileWriter.byteCount`.
  var byteCount: Int? { writer.byteCount }

  /// The value of `SoundFileWriter.isDeleted`.
  var isDeleted: Bool { writer.isDeleted }

  /// The value of `SoundFileWriter.isModifiedByOthers`.
  var isModifiedByOthers: Bool { writer.isModifiedByOthers }

  /// Returns the value of `SoundFileWriter.soundByteCountLimit`.
  func soundByteCountLimit(knowing known: Int?) -> Int? {
    writer.soundByteCountLimit(knowing: known)
  }

  /// Sets the time of the first frame, in nanoseconds since 1970, unless it is already known.
  mutating func originate(at time: UInt64) {
    guard !hasOriginated else { return }
    hasOriginated = true
    file.start = time
    writer.setOrigination(
      Origination(nanosecondsSinceEpoch: time, sampleRate: writer.sampleRate))
  }

  /// Marks the next frame, and returns the number of bytes that the marker takes in the file.
  mutating func mark(_ label: String) -> Int {
    let marker = SoundFileMarker(frame: file.frames, label: label)
    writer.mark(marker)
    return writer.byteCount(of: marker)
  }

  /// Appends frames from `first` on: those of `integers`, if it is not empty and the file accepts
  /// them, otherwise those of `buffer`, which are the same.
  mutating func write(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, from first: Int, frames count: Int
  ) throws(FileFailure) {
    // After a failure, the file may have fewer frames than before.
    defer { file.frames = writer.framesWritten }
    if integers.isEmpty || !acceptsIntegers {
      try writer.write(buffer, from: first, frames: count)
    } else {
      try writer.write(integers, from: first, frames: count)
    }
  }

  /// Makes the file valid with its present contents.
  mutating func refresh() throws(FileFailure) {
    // The disk may refuse data that an encoder held back until now.
    defer { file.frames = writer.framesWritten }
    try writer.refreshHeader()
  }

  /// Waits until the disk has all data.
  mutating func synchronize() throws(FileFailure) { try writer.synchronize() }

  /// Stores the loudness of the recording, which is all in this file.
  mutating func setLoudness(_ levels: ProgrammeLevels) {
    writer.setLoudness(
      integratedLUFS: levels.integratedLUFS, rangeLU: levels.loudnessRangeLU,
      truePeakDBTP: levels.truePeakDBTP.max(),
      momentaryLUFS: levels.maximumMomentaryLUFS, shortTermLUFS: levels.maximumShortTermLUFS)
  }

  /// Completes the file. `file` is what is in it, even after a failure.
  mutating func complete() throws(FileFailure) {
    let name = writer.path
    defer {
      // Frames that were passed on and refused, now or by an earlier write, are not in the file.
      file.frames = writer.framesWritten
      // A file that could not replace another file has another name.
      if writer.path != name { file.path = writer.path }
    }
    try writer.complete()
  }

  /// Leaves the file to the program that truncated it or wrote to it, and returns what was recorded
  /// in it.
  consuming func abandon() -> RecordedFile {
    writer.abandon()
    return file
  }
}

/// The name of the file, which other programs may change or take.
extension GrowingSeriesFile {
  /// Writes the file again, after it was deleted, under its name or, if that is taken, its next
  /// free name; `isLast` if it is complete. Emits a warning with its name.
  mutating func restore(
    orNextOf names: inout SeriesNames, isLast: Bool, events: RecordingEvents
  ) throws(FileFailure) {
    let old = file.path
    let cause = writer.lostNameCause
    let refusal = writer.nameRefusal
    var path = old
    // The restored name is reported even if the disk does not confirm that it has all data.
    defer {
      if !writer.isDeleted, !writer.isHidden {
        file.path = path
        let place = path == old ? "there again" : "in \(path) now"
        let sentence =
          refusal.map { "\($0.message) The recording is \(place)." }
          ?? "\(old) \(cause) while it was recorded: the recording is \(place)."
        events.emit(.warning(FileFailure(.writeFailed, sentence, hint: "Nothing is lost.")))
      }
    }
    try writer.restore(as: &path, orNextOf: &names, isLast: isLast)
  }

  /// Restores the file if it was deleted or its name was taken. Throws if its audio would be lost;
  /// returns any other failure.
  mutating func restoreIfNeeded(
    orNextOf names: inout SeriesNames, isLast: Bool, events: RecordingEvents
  ) throws(FileFailure) -> FileFailure? {
    let isTaken = writer.isHidden && !isReplacing && SoundFileReader.exists(file.path)
    guard writer.isDeleted || isTaken else { return nil }
    do throws(FileFailure) {
      try restore(orNextOf: &names, isLast: isLast, events: events)
      return nil
    } catch {
      guard !writer.isDeleted, !writer.isHidden else { throw error }
      return error
    }
  }

  /// Returns the failure to restore the file.
  func notRestored(_ failure: FileFailure) -> FileFailure {
    .notRestored(file.path, writer.lostNameCause, failure)
  }

  /// Adopts the new name of the file if it or its folder was renamed, and returns it.
  mutating func followName() -> String? {
    guard let name = writer.adoptNewName() else { return nil }
    file.path = name
    return name
  }
}
