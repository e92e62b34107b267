import AudioBasics
import AudioFiles
import AudioLevels

/// The file that a recording goes into, or one after the other: no frame is lost or doubled between
/// them, and nothing that exists is overwritten. Disk thread.
struct FileSeries: ~Copyable {
  private let plan: RecordingPlan
  private let events: RecordingEvents
  private var names: SeriesNames
  private var finished: FinishedFiles
  private var writer: SoundFileWriter?
  /// The file that grows.
  private(set) var current: RecordedFile?
  private var hasOriginated = false
  /// Names of the frame that is written next.
  private var marks: [String] = []
  private var isSplitWanted = false
  /// Bytes of the growing file when the next one could not be made.
  private var unsplitBytes = 0
  /// Every path that this recording wrote.
  private var written: Set<String> = []
  /// What another program made of a file that grew: told at the end as well.
  private var loss: FileFailure?
  /// Whether it was told that a deleted file cannot be written again.
  private var isWarned = false
  /// Frames after which the current file is full.
  private var room = Int.max

  /// Its files, the growing one not among them.
  private(set) var files: [RecordedFile] = []
  /// Frames in all of them, those that were removed as well.
  private(set) var frames = 0
  /// Frames of files that were cut off or written by another program.
  private var spoiltFrames = 0

  /// Where its files are, the growing one among them.
  var paths: [String] { files.map(\.path) + [current?.path].compactMap { $0 } }

  /// Frames that are in none of its files once it is finished, though they were written: a file
  /// that was deleted and could not be written again still grows then.
  var lostFrames: Int { spoiltFrames + (current?.frames ?? 0) }

  /// Makes the first file; where each segment of speech gets its own, looks at its folder only.
  init(_ plan: RecordingPlan, events: RecordingEvents) throws(FileFailure) {
    self.plan = plan
    self.events = events
    names = SeriesNames(plan.path, isSeries: plan.split != nil)
    finished = FinishedFiles(plan, events: events)
    if plan.isFilePerSegment {
      try OutputFolder.check(for: plan.path)
    } else {
      try open(at: WallClock(isVirtual: plan.isVirtual).start)
    }
  }

  /// Whether a command for a complete file runs or waits.
  var isBusy: Bool { finished.isBusy }

  /// Begins the next file before the next frame, unless the present one is empty.
  mutating func split() {
    isSplitWanted = true
  }

  /// Whether the growing file takes samples of 16 bits as they are.
  var takesWords: Bool {
    switch writer {
    case .some(let writer): writer.takesWords
    case .none: false
    }
  }

  /// Appends frames from `first` on, which was captured at `start` nanoseconds since 1970: those of
  /// `words`, where there are any and the file takes them, or else those of `buffer`, which are the
  /// same.
  mutating func write(
    _ buffer: borrowing SampleBuffer, _ words: Span<Int16>, from first: Int = 0,
    frames count: Int, start: UInt64
  ) throws(FileFailure) {
    var done = 0
    while done < count {
      // From the block's start: a sum of rounded steps can fall just short of a whole second, and a
      // file's name would be a second early.
      let exact = start &+ FrameTime.nanoseconds(of: done, at: plan.sampleRate)
      let time = (exact + 500) / 1000 * 1000
      if writer?.isSpoilt == true { abandon() }
      try prepareFile(at: time)
      if !hasOriginated {
        hasOriginated = true
        current?.start = time
        writer?.setOrigination(
          Origination(nanosecondsSinceEpoch: time, sampleRate: plan.sampleRate))
      }
      for label in marks {
        writer?.mark(SoundFileMarker(frame: current?.frames ?? 0, label: label))
      }
      marks = []
      let part = min(count - done, room)
      let before = writer?.framesWritten ?? 0
      defer { recount(since: before) }
      if words.isEmpty || !takesWords {
        try writer?.write(buffer, from: first + done, frames: part)
      } else {
        try writer?.write(words, from: first + done, frames: part)
      }
      done += part
      if room != .max { room -= part }
      noteSize()
    }
  }

  /// Marks the frame that is written next.
  mutating func mark(_ label: String) {
    // It may be the first of the next file.
    marks.append(label)
  }

  /// Makes the growing file valid as it stands, and with `synchronizing` waits for the disk.
  mutating func refresh(synchronizing: Bool) throws(FileFailure) {
    // A file without a frame has no name yet.
    guard let current, current.frames > 0 || plan.isStream, writer?.isSpoilt != true else { return }
    if !plan.isStream, writer?.isDeleted == true { tryToRestore() }
    let before = writer?.framesWritten ?? 0
    // What an encoder held back until now may be refused.
    defer { recount(since: before) }
    try writer?.refreshHeader()
    if synchronizing { try writer?.synchronize() }
  }

  /// Counts what the growing file has more, or after a failure less, than `before`.
  private mutating func recount(since before: Int) {
    let change = (writer?.framesWritten ?? 0) - before
    current?.frames += change
    frames += change
  }

  /// Starts commands for complete files, and removes files that are too many. `now` is nanoseconds
  /// since 1970.
  mutating func poll(at now: UInt64) {
    let gone = finished.step(at: now, isGrowing: current != nil)
    if !gone.isEmpty { files.removeAll { gone.contains($0.path) } }
  }

  /// Waits for no command any more.
  mutating func leaveCommands() {
    finished.leaveCommands()
  }

  /// Completes the last file. `levels` are those of the whole recording.
  mutating func finish(_ levels: ProgrammeLevels) throws(FileFailure) {
    if files.isEmpty, frames == current?.frames {
      writer?.setLoudness(
        integratedLUFS: levels.integratedLUFS, rangeLU: levels.loudnessRangeLU,
        truePeakDBTP: levels.truePeaks.max().map { Decibels.level($0) },
        momentaryLUFS: levels.maximumMomentaryLUFS, shortTermLUFS: levels.maximumShortTermLUFS)
    }
    try closeCurrent()
    if let loss { throw loss }
  }

  /// Another program cut the growing file off or wrote into it: it is theirs now, and the recording
  /// goes on in another.
  private mutating func abandon() {
    guard let file = current else { return }
    spoiltFrames += file.frames
    writer?.abandon()
    writer = nil
    current = nil
    let failure = FileFailure(
      .writeFailed,
      "\(file.path) was truncated or overwritten by another program while it was recorded: what it held, "
        + "\(file.frames) frames, may be lost.",
      hint: "Keep other programs away from files that are recorded.")
    loss = loss ?? failure
    events.emit(.warning(failure))
  }

  /// The file that grows was deleted.
  private mutating func restore() throws(FileFailure) {
    let old = current?.path ?? plan.path
    let wasTaken = writer?.isNameTaken == true || writer?.isHidden == true
    let refusal = writer?.nameRefusal
    let path = names.free(old) { FileRemoval.byteCount(of: $0) != nil }
    // Told even where the disk does not say that it has all.
    defer {
      if writer?.isDeleted == false, writer?.isHidden == false {
        current?.path = path
        let place = path == old ? "there again" : "in \(path) now"
        let cause = wasTaken ? "was made by another program" : "was deleted"
        let sentence =
          refusal.map { "\($0.message) The recording is \(place)." }
          ?? "\(old) \(cause) while it was recorded: the recording is \(place)."
        events.emit(.warning(FileFailure(.writeFailed, sentence, hint: "Nothing is lost.")))
      }
    }
    try writer?.restore(as: path)
  }

  /// The same, told where it cannot be; it is tried again with the next refresh, and at the end.
  private mutating func tryToRestore() {
    do throws(FileFailure) {
      try restore()
    } catch {
      warnOfDeletion(error)
    }
  }

  /// Tells once why a deleted file cannot be written again.
  private mutating func warnOfDeletion(_ failure: FileFailure) {
    guard !isWarned else { return }
    isWarned = true
    events.emit(
      .warning(
        FileFailure(
          .writeFailed,
          "\(current?.path ?? plan.path) was deleted while it is recorded. \(failure.message)",
          hint: "Create its folder and free some disk space: then the file is written again.")))
  }

  /// Has the growing file go on; the next one is tried again when there is as much again.
  private mutating func postponeSplit() {
    renewRoom()
    unsplitBytes = writer?.byteCount ?? 0
  }

  /// The file for the next frame is open, and has room for it.
  private mutating func prepareFile(at start: UInt64) throws(FileFailure) {
    guard current != nil else {
      isSplitWanted = false
      return try open(at: start)
    }
    guard isSplitWanted || room == 0 else { return }
    isSplitWanted = false
    guard let ending = current, ending.frames != 0, !plan.isStream else { return }
    do throws(FileFailure) {
      if let trouble = try followName(of: ending) { events.emit(.warning(trouble)) }
    } catch {
      // It has no name, and would be gone once it is closed: it grows on until it can be written
      // again.
      postponeSplit()
      return warnOfDeletion(error)
    }
    let before = writer.take()
    let file = current
    do throws(FileFailure) {
      try open(at: start)
    } catch {
      // Better a file that is too long than frames that are lost.
      writer = before
      current = file
      postponeSplit()
      return events.emit(.warning(error))
    }
    if let current { events.emit(.split(current)) }
    if let file { try close(before, file) }
  }

  private mutating func open(at start: UInt64) throws(FileFailure) {
    let name = names.next(at: start)
    // The first name is the user's word: where it is taken, that is refused.
    let isFirst = written.isEmpty
    let inputs = plan.inputs
    func isPlayed(_ path: String) -> Bool { FileIdentity(of: path).map(inputs.contains) ?? false }
    let raw = plan.rawPath
    func isRaw(_ path: String) -> Bool {
      raw.map { FileLocation(of: $0) == FileLocation(of: path) } ?? false
    }
    guard !isFirst || !isPlayed(name) else {
      throw FileFailure(
        .invalidRequest, "\(name) is being played and cannot be recorded to.",
        hint: "Choose another name.")
    }
    let path =
      (isFirst && !isRaw(name)) || plan.isStream
      ? name
      : names.free(name) { path in
        isPlayed(path) || written.contains(path) || isRaw(path)
          || (FileRemoval.byteCount(of: path) != nil && !plan.overwrite)
      }
    writer = try make(path)
    current = RecordedFile(path: path, firstFrame: frames, start: start)
    written.insert(path)
    hasOriginated = false
    unsplitBytes = 0
    renewRoom()
  }

  private func make(_ path: String) throws(FileFailure) -> SoundFileWriter {
    plan.isStream
      ? try SoundFileWriter(
        fileFormat: plan.fileFormat, sampleFormat: plan.sampleFormat, sampleRate: plan.sampleRate,
        channelCount: plan.channelCount)
      : try SoundFileWriter(
        path: path, fileFormat: plan.fileFormat, sampleFormat: plan.sampleFormat,
        sampleRate: plan.sampleRate, channelCount: plan.channelCount, overwrite: plan.overwrite,
        tags: plan.tags)
  }

  private mutating func renewRoom() {
    let frameByteCount = plan.channelCount * plan.sampleFormat.byteCount
    switch plan.split {
    case .frames(let count) where count > 0: room = count
    case .bytes(let count) where count > 0 && plan.fileFormat.isPlain:
      room = max(1, (count - SoundFileWriter.headerByteCount) / frameByteCount)
    case .frames, .bytes, .silence, nil: room = .max
    }
  }

  /// Asks for a split by the size of an encoded file, which is only known once it is written.
  private mutating func noteSize() {
    guard case .bytes(let most) = plan.split, most > 0, !plan.fileFormat.isPlain else { return }
    // What it keeps back is at most a block of samples as they were.
    let block = 4096 * plan.channelCount * 3
    let limit = most - min(most / 2, most / 50 + block)
    if let size = writer?.byteCount, size - unsplitBytes >= limit { isSplitWanted = true }
  }

  private mutating func closeCurrent() throws(FileFailure) {
    if writer?.isSpoilt == true { abandon() }
    guard let file = current else { return }
    // A file without a frame is no recording, has no name, and vanishes.
    guard file.frames > 0 || plan.isStream else {
      current = nil
      writer = nil
      return
    }
    let trouble = try followName(of: file)
    guard let file = current else { return }
    current = nil
    try close(writer.take(), file)
    if let trouble { throw trouble }
  }

  /// Writes `file` again where it was deleted or its name was taken meanwhile, and goes by its new
  /// name where it was renamed. Throws where its sound would be lost; answers with what else went
  /// wrong.
  private mutating func followName(of file: RecordedFile) throws(FileFailure) -> FileFailure? {
    // Standard output has no name, whatever file the user has led it to.
    guard !plan.isStream else { return nil }
    let isTaken =
      writer?.isHidden == true && !plan.overwrite && FileRemoval.byteCount(of: file.path) != nil
    var trouble: FileFailure?
    if writer?.isDeleted == true || isTaken {
      do throws(FileFailure) {
        try restore()
      } catch {
        trouble = error
        if writer?.isDeleted == true || writer?.isHidden == true { throw error }
      }
    }
    if let name = writer?.newName {
      let sentence =
        "\(file.path) was renamed while it was recorded: the recording is in \(name) now."
      current?.path = name
      events.emit(.warning(FileFailure(.writeFailed, sentence, hint: "Nothing is lost.")))
    }
    return trouble
  }

  /// Completes `file`.
  private mutating func close(
    _ writer: consuming SoundFileWriter?, _ file: RecordedFile
  ) throws(FileFailure) {
    guard var writer = writer.take() else { return }
    var file = file
    var trouble: FileFailure?
    let name = writer.path
    do throws(FileFailure) {
      try writer.complete()
    } catch {
      trouble = error
    }
    // What was handed on and refused, now or by an earlier write, is not in it.
    frames += writer.framesWritten - file.frames
    file.frames = writer.framesWritten
    // What could not take the place of another file has a name of its own.
    if writer.path != name { file.path = writer.path }
    files.append(file)
    if let trouble { throw trouble }
    guard !plan.isStream else { return }
    events.emit(.finished(file))
    let length = FrameTime.nanoseconds(of: file.frames, at: plan.sampleRate)
    finished.add(file.path, end: file.start &+ length)
  }
}
