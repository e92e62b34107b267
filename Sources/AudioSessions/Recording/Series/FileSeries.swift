import AudioBasics
import AudioFiles
import AudioLevels

/// The file of a recording, or its files one after the other: no frame is lost or duplicated
/// between them, and an existing file is replaced only if the plan allows it. Disk thread.
struct FileSeries: ~Copyable {
  private let plan: RecordingPlan
  private let events: RecordingEvents
  private var names: SeriesNames
  private var moves = FolderMoves()
  private var finished: FinishedFiles
  private var writer: SoundFileWriter?
  /// The growing file.
  private(set) var current: RecordedFile?
  private var hasOriginated = false
  /// The labels of the next frame written.
  private var marks: [String] = []
  private var splitting: SplitCondition
  /// Every file that the recording wrote, those of its other series included.
  private let written: WrittenFiles
  /// Whether the first file was begun.
  private var isBegun = false
  /// Whether the growing file may replace an existing one.
  private var isReplacing = false
  /// The damage that another program did to a growing file, which is reported again at the end.
  private var loss: FileFailure?
  /// Whether it was reported that a deleted file cannot be written again.
  private var isWarned = false

  /// The complete files, without the growing one.
  private(set) var files: [RecordedFile] = []
  /// The number of frames in all files, including those that were removed.
  private(set) var frames = 0
  /// The end of the last frame written, in nanoseconds of the device's clock.
  private var end = 0
  /// The number of frames in files that another program truncated or wrote to.
  private var abandonedFrames = 0

  /// The paths of the files, including the growing one.
  var paths: [String] { files.map(\.path) + [current?.path].compactMap { $0 } }

  /// The number of bytes in all files, including the growing one, without those that were removed.
  var byteCount: Int {
    switch writer {
    case .some(let writer): finished.byteCount + (writer.byteCount ?? 0)
    case .none: finished.byteCount
    }
  }

  /// The number of written frames that are in no file after the series is finished: a deleted file
  /// that could not be written again still counts as growing then.
  var lostFrames: Int { abandonedFrames + (current?.frames ?? 0) }

  /// Creates the first file; if each segment of speech gets a separate file, only checks that it
  /// can be created. No file in `written` is overwritten.
  init(
    _ plan: RecordingPlan, events: RecordingEvents, written: WrittenFiles = WrittenFiles()
  ) throws(FileFailure) {
    self.plan = plan
    self.events = events
    self.written = written
    names = SeriesNames(plan.path, isSeries: plan.split != nil)
    finished = FinishedFiles(plan, events: events)
    splitting = SplitCondition(plan)
    let start = WallClock(isVirtual: plan.isVirtual).start
    guard plan.isFilePerSegment else {
      try open(at: start)
      return
    }
    try OutputFolder.check(for: plan.path)
    var first = names
    // A writer without frames leaves no file.
    if !plan.takesFreeName {
      _ = try plan.makeWriter(first.next(at: start), overwrite: plan.overwrite)
    }
  }

  /// Whether a command for a complete file runs or waits.
  var isBusy: Bool { finished.isBusy }

  /// Requests that the next file begin before the next frame, unless the present one is empty.
  mutating func split() { splitting.request() }

  /// Whether the growing file accepts 16-bit samples without conversion.
  var acceptsIntegers: Bool {
    switch writer {
    case .some(let writer): writer.acceptsIntegers
    case .none: false
    }
  }

  /// Appends frames from `first` on, which was captured at `start`: those of `integers`, if it is
  /// not empty and the file accepts them, otherwise those of `buffer`, which are the same.
  mutating func write(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, from first: Int = 0,
    frames count: Int, start: CaptureTime
  ) throws(FileFailure) {
    var done = 0
    while done < count {
      // The time is computed from the block's start: a sum of rounded steps can be slightly below a
      // whole second, and the file's name would be one second early.
      let exact = start.advanced(by: done, at: plan.sampleRate).wall
      let time = (exact + 500) / 1000 * 1000
      if writer?.isModifiedByOthers == true { abandon() }
      try prepareFile(at: time)
      if !hasOriginated {
        hasOriginated = true
        current?.start = time
        writer?.setOrigination(
          Origination(nanosecondsSinceEpoch: time, sampleRate: plan.sampleRate))
      }
      for label in marks {
        let marker = SoundFileMarker(frame: current?.frames ?? 0, label: label)
        writer?.mark(marker)
        splitting.reserve(writer?.byteCount(of: marker) ?? 0)
      }
      marks = []
      let part = min(count - done, splitting.room)
      let before = writer?.framesWritten ?? 0
      do throws(FileFailure) {
        defer { recount(since: before) }
        if integers.isEmpty || !acceptsIntegers {
          try writer?.write(buffer, from: first + done, frames: part)
        } else {
          try writer?.write(integers, from: first + done, frames: part)
        }
      } catch {
        done += try continueInNextFile(after: error, since: before)
        continue
      }
      done += part
      end = start.advanced(by: done, at: plan.sampleRate).device
      splitting.note(part, byteCount: splitting.countsBytes ? writer?.byteCount : nil)
    }
  }

  /// Marks the next frame written.
  mutating func mark(_ label: String) {
    // This frame may be the first of the next file.
    marks.append(label)
  }

  /// Makes the growing file valid with its present contents, and with `synchronizing` waits for the
  /// disk.
  mutating func refresh(synchronizing: Bool) throws(FileFailure) {
    // A file without frames has no name yet.
    guard let current, current.frames > 0 || plan.isStream, writer?.isModifiedByOthers != true
    else { return }
    if !plan.isStream, writer?.isDeleted == true { tryToRestore() }
    let before = writer?.framesWritten ?? 0
    // The disk may refuse data that an encoder held back until now.
    defer { recount(since: before) }
    do throws(FileFailure) {
      try writer?.refreshHeader()
    } catch {
      return _ = try continueInNextFile(after: error, since: before)
    }
    if synchronizing { try writer?.synchronize() }
  }

  /// Adds the change in the growing file's frames since `before`, which is negative after a
  /// failure.
  private mutating func recount(since before: Int) {
    let change = (writer?.framesWritten ?? 0) - before
    current?.frames += change
    frames += change
  }

  /// Requests the next file if the growing one can hold no more, and returns the number of frames
  /// of the last write that it holds; it had `before` frames. Throws any other `failure`.
  private mutating func continueInNextFile(
    after failure: FileFailure, since before: Int
  ) throws(FileFailure) -> Int {
    guard failure.remedy == .nextFile, let byteCount = writer?.byteCount,
      splitting.noteRefusal(at: byteCount)
    else { throw failure }
    let change = (writer?.framesWritten ?? 0) - before
    // Frames that an encoder had accepted are in no file now.
    abandonedFrames += max(0, -change)
    frames += max(0, -change)
    return max(0, change)
  }

  /// Starts commands for complete files, and removes surplus files. `now` is in nanoseconds of the
  /// device's clock.
  mutating func poll(at now: Int) {
    let gone = finished.step(at: now, isGrowing: current != nil)
    if !gone.isEmpty { files.removeAll { gone.contains($0.path) } }
  }

  /// Stops waiting for commands.
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

  /// Gives up the growing file, which another program truncated or wrote to: it belongs to that
  /// program now, and the recording continues in another file.
  private mutating func abandon() {
    guard let file = current else { return }
    abandonedFrames += file.frames
    writer?.abandon()
    writer = nil
    current = nil
    let failure = FileFailure.modifiedByOthers(file)
    loss = loss ?? failure
    events.emit(.warning(failure))
  }

  /// Writes the growing file again, after it was deleted; `isLast` if it is complete.
  private mutating func restore(isLast: Bool = false) throws(FileFailure) {
    let old = current?.path ?? plan.path
    let cause = writer?.lostNameCause ?? ""
    let refusal = writer?.nameRefusal
    var path = old
    // The restored name is reported even if the disk does not confirm that it has all data.
    defer {
      if writer?.isDeleted == false, writer?.isHidden == false {
        current?.path = path
        let place = path == old ? "there again" : "in \(path) now"
        let sentence =
          refusal.map { "\($0.message) The recording is \(place)." }
          ?? "\(old) \(cause) while it was recorded: the recording is \(place)."
        events.emit(.warning(FileFailure(.writeFailed, sentence, hint: "Nothing is lost.")))
      }
    }
    try writer?.restore(as: &path, orNextOf: &names, isLast: isLast)
  }

  /// Tries to restore the file, and reports a failure; the next refresh and the end try it again.
  private mutating func tryToRestore() {
    do throws(FileFailure) {
      try restore()
    } catch {
      warnOfDeletion(error)
    }
  }

  /// Reports once the reason that a deleted file cannot be written again.
  private mutating func warnOfDeletion(_ failure: FileFailure) {
    guard !isWarned else { return }
    isWarned = true
    let path = current?.path ?? plan.path
    events.emit(.warning(.notRestored(path, writer?.lostNameCause ?? "", failure)))
  }

  /// Ensures that a file with room for the next frame is open.
  private mutating func prepareFile(at start: UInt64) throws(FileFailure) {
    let isDue = splitting.takeDue()
    guard let ending = current else { return try open(at: start) }
    guard isDue, ending.frames != 0, !plan.isStream else { return }
    do throws(FileFailure) {
      if let trouble = try followName(of: ending, beforeNext: true) {
        events.emit(.warning(trouble))
      }
    } catch {
      // The file has no name and would vanish when it is closed, so it keeps growing until it can
      // be written again.
      splitting.begin(at: writer?.byteCount ?? 0)
      return warnOfDeletion(error)
    }
    let before = writer.take()
    let file = current
    do throws(FileFailure) {
      try open(at: start)
    } catch {
      // A file that is too long is better than lost frames.
      writer = before
      current = file
      splitting.begin(at: writer?.byteCount ?? 0)
      return events.emit(.warning(error))
    }
    if let current, !plan.isRaw { events.emit(.split(current)) }
    if let file { try close(before, file) }
  }

  private mutating func open(at start: UInt64) throws(FileFailure) {
    let name = moves.place(of: names.next(at: start))
    // The user chose the first name: if it is taken, that is an error. If it is taken while the
    // recording waits for speech, this must not cost the speech.
    let isFirst = !isBegun && !plan.isFilePerSegment
    // Without a rule for the next file, the user has named only one to be replaced.
    let replaces = plan.overwrite && (isFirst || plan.split != nil)
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
    var path = name
    if isFirst && !plan.takesFreeName && !isRaw(name) || plan.isStream {
      writer = try plan.makeWriter(name, overwrite: replaces)
    } else {
      let (plan, used) = (plan, written)
      writer = try names.claim(
        &path,
        isReserved: { path in
          isPlayed(path) || used.contains(path) || isRaw(path)
            || (SoundFileReader.exists(path) && !replaces)
        }
      ) { (path) throws(FileFailure) in try plan.makeWriter(path, overwrite: replaces) }
    }
    current = RecordedFile(path: path, firstFrame: frames, start: start)
    written.insert(path)
    (isBegun, isReplacing) = (true, replaces)
    moves.begin(path)
    hasOriginated = false
    splitting.begin(upTo: writer?.soundByteCountLimit(knowing: splitting.refusedByteCount))
  }

  private mutating func closeCurrent() throws(FileFailure) {
    if writer?.isModifiedByOthers == true { abandon() }
    guard let file = current else { return }
    // A file without frames is not a recording, has no name, and vanishes.
    guard file.frames > 0 || plan.isStream else {
      current = nil
      writer = nil
      return
    }
    let trouble = try followName(of: file, beforeNext: false)
    guard let file = current else { return }
    current = nil
    try close(writer.take(), file)
    if let trouble { throw trouble }
  }

  /// Writes `file` again if it was deleted or its name was taken, and adopts its new name if it or
  /// its folder was renamed. `beforeNext` means that another file follows. Throws if its audio
  /// would be lost; returns any other failure.
  private mutating func followName(
    of file: RecordedFile, beforeNext: Bool
  ) throws(FileFailure) -> FileFailure? {
    // Standard output has no name, even if the user redirected it to a file.
    guard !plan.isStream else { return nil }
    let isTaken =
      writer?.isHidden == true && !isReplacing && SoundFileReader.exists(file.path)
    var trouble: FileFailure?
    if writer?.isDeleted == true || isTaken {
      do throws(FileFailure) {
        try restore(isLast: !beforeNext)
      } catch {
        trouble = error
        if writer?.isDeleted == true || writer?.isHidden == true { throw error }
      }
    }
    if let name = writer?.adoptNewName() {
      current?.path = name
      let move = moves.note(file.path, name)
      if let move { follow(move) }
      if beforeNext, let move {
        events.emit(.renamed(move.from, to: move.to, isFolder: true))
      } else {
        events.emit(.renamed(file.path, to: name, isFolder: false))
      }
    }
    return trouble
  }

  /// Adopts the new paths of the files whose folder was renamed.
  private mutating func follow(_ move: FolderMove) {
    written.follow(move)
    finished.follow(move)
    files = files.map(move.followed)
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
    // Frames that were passed on and refused, now or by an earlier write, are not in the file.
    frames += writer.framesWritten - file.frames
    file.frames = writer.framesWritten
    // A file that could not replace another file has another name.
    if writer.path != name { file.path = writer.path }
    files.append(file)
    if !plan.isStream { written.insertComplete(file.path) }
    if let trouble { throw trouble }
    guard !plan.isStream else { return }
    events.emit(.finished(file))
    finished.add(file.path, end: end)
  }
}
