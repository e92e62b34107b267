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
  private var growing: GrowingSeriesFile?
  /// The labels of the next frame written.
  private var marks: [String] = []
  private var splitting: SplitCondition
  /// Every file that the recording wrote, those of its other series included.
  private let written: WrittenFiles
  /// Whether the first file was begun.
  private var isBegun = false
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

  /// The growing file.
  var current: RecordedFile? {
    switch growing {
    case .some(let growing): growing.file
    case .none: nil
    }
  }

  /// The number of frames in the growing file.
  private var growingFrames: Int { current?.frames ?? 0 }

  /// The paths of the files, including the growing one.
  var paths: [String] { files.map(\.path) + [current?.path].compactMap { $0 } }

  /// The number of bytes in all files, including the growing one, without those that were removed.
  var byteCount: Int {
    switch growing {
    case .some(let growing): finished.byteCount + (growing.byteCount ?? 0)
    case .none: finished.byteCount
    }
  }

  /// The number of written frames that are in no file after the series is finished: a deleted file
  /// that could not be written again still counts as growing then.
  var lostFrames: Int { abandonedFrames + growingFrames }

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
    switch growing {
    case .some(let growing): growing.acceptsIntegers
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
      abandonIfModified()
      try prepareFile(at: time)
      growing?.originate(at: time)
      for label in marks {
        if let byteCount = growing?.mark(label) { splitting.reserve(byteCount) }
      }
      marks = []
      let part = min(count - done, splitting.room)
      let before = growingFrames
      do throws(FileFailure) {
        defer { recount(since: before) }
        try growing?.write(buffer, integers, from: first + done, frames: part)
      } catch {
        done += try continueInNextFile(after: error, since: before)
        continue
      }
      done += part
      end = start.advanced(by: done, at: plan.sampleRate).device
      splitting.note(part, byteCount: splitting.countsBytes ? growing?.byteCount : nil)
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
    guard growingFrames > 0 || plan.isStream, growing?.isModifiedByOthers == false else { return }
    if !plan.isStream, growing?.isDeleted == true { tryToRestore() }
    let before = growingFrames
    defer { recount(since: before) }
    do throws(FileFailure) {
      try growing?.refresh()
    } catch {
      return _ = try continueInNextFile(after: error, since: before)
    }
    if synchronizing { try growing?.synchronize() }
  }

  /// Adds the change in the growing file's frames since `before`, which may be negative after a
  /// failure.
  private mutating func recount(since before: Int) { frames += growingFrames - before }

  /// Requests the next file if the growing one can hold no more, and returns the number of frames
  /// of the last write that it holds; it had `before` frames. Throws any other `failure`.
  private mutating func continueInNextFile(
    after failure: FileFailure, since before: Int
  ) throws(FileFailure) -> Int {
    guard failure.remedy == .nextFile, let byteCount = growing?.byteCount,
      splitting.noteRefusal(at: byteCount)
    else { throw failure }
    let change = growingFrames - before
    // Frames that an encoder had accepted are in no file now.
    abandonedFrames += max(0, -change)
    frames += max(0, -change)
    return max(0, change)
  }

  /// Starts commands for complete files, and removes surplus files. `now` is in nanoseconds of the
  /// device's clock.
  mutating func poll(at now: Int) {
    let gone = finished.step(at: now, isGrowing: growing != nil)
    if !gone.isEmpty { files.removeAll { gone.contains($0.path) } }
  }

  /// Stops waiting for commands.
  mutating func leaveCommands() {
    finished.leaveCommands()
  }

  /// Completes the last file. `levels` are those of the whole recording.
  mutating func finish(_ levels: ProgrammeLevels) throws(FileFailure) {
    if files.isEmpty, frames == growingFrames { growing?.setLoudness(levels) }
    try closeCurrent()
    if let loss { throw loss }
  }

  /// Gives up the growing file if another program truncated it or wrote to it: it belongs to that
  /// program now, and the recording continues in another file.
  private mutating func abandonIfModified() {
    guard growing?.isModifiedByOthers == true, let file = growing.take()?.abandon() else { return }
    abandonedFrames += file.frames
    let failure = FileFailure.modifiedByOthers(file)
    loss = loss ?? failure
    events.emit(.warning(failure))
  }

  /// Tries to restore the file, and reports a failure; the next refresh and the end try it again.
  private mutating func tryToRestore() {
    do throws(FileFailure) {
      try growing?.restore(orNextOf: &names, isLast: false, events: events)
    } catch {
      warnOfDeletion(error)
    }
  }

  /// Reports once the reason that a deleted file cannot be written again.
  private mutating func warnOfDeletion(_ failure: FileFailure) {
    guard !isWarned, let warning = growing?.notRestored(failure) else { return }
    isWarned = true
    events.emit(.warning(warning))
  }

  /// Ensures that a file with room for the next frame is open.
  private mutating func prepareFile(at start: UInt64) throws(FileFailure) {
    let isDue = splitting.takeDue()
    guard growing != nil else { return try open(at: start) }
    renameUnwritten(at: start)
    guard isDue, growingFrames != 0, !plan.isStream else { return }
    do throws(FileFailure) {
      if let failure = try followName(beforeNext: true) { events.emit(.warning(failure)) }
    } catch {
      // The file has no name and would vanish when it is closed, so it keeps growing until it can
      // be written again.
      splitting.begin(at: growing?.byteCount ?? 0)
      return warnOfDeletion(error)
    }
    let ending = growing.take()
    do throws(FileFailure) {
      try open(at: start)
    } catch {
      // A file that is too long is better than lost frames.
      growing = ending
      splitting.begin(at: growing?.byteCount ?? 0)
      return events.emit(.warning(error))
    }
    if let current, !plan.isRaw { events.emit(.split(current)) }
    try close(ending)
  }

  /// Replaces the growing file by one with the name for `start`, the time of its first frame, if it
  /// was opened earlier: while the device started, or while the recording waited for the user.
  private mutating func renameUnwritten(at start: UInt64) {
    guard growing?.hasOriginated == false, let early = current,
      names.timed(at: early.start) != names.timed(at: start)
    else { return }
    let unwritten = growing.take()
    do throws(FileFailure) {
      try open(at: start)
      written.remove(early.path)
    } catch {
      growing = unwritten
      events.emit(.warning(error))
    }
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
    let writer: SoundFileWriter
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
    let file = RecordedFile(path: path, firstFrame: frames, start: start)
    growing = GrowingSeriesFile(writer, file, isReplacing: replaces)
    isBegun = true
    written.insert(path)
    moves.begin(path)
    splitting.begin(
      upTo: growing?.soundByteCountLimit(knowing: splitting.refusedByteCount))
  }

  private mutating func closeCurrent() throws(FileFailure) {
    abandonIfModified()
    // A file without frames is not a recording, has no name, and vanishes.
    guard growingFrames > 0 || plan.isStream else {
      growing = nil
      return
    }
    let failure = try followName(beforeNext: false)
    try close(growing.take())
    if let failure { throw failure }
  }

  /// Writes the growing file again if it was deleted or its name was taken, and adopts its new name
  /// if it or its folder was renamed. `beforeNext` means that another file follows. Throws if its
  /// audio would be lost; returns any other failure.
  private mutating func followName(beforeNext: Bool) throws(FileFailure) -> FileFailure? {
    // Standard output has no name, even if the user redirected it to a file.
    guard !plan.isStream, let old = current?.path else { return nil }
    let failure = try growing?.restoreIfNeeded(
      orNextOf: &names, isLast: !beforeNext, events: events)
    guard let name = growing?.followName() else { return failure }
    let move = moves.note(old, name)
    if let move { follow(move) }
    if beforeNext, let move {
      events.emit(.renamed(move.from, to: move.to, isFolder: true))
    } else {
      events.emit(.renamed(old, to: name, isFolder: false))
    }
    return failure
  }

  /// Adopts the new paths of the files whose folder was renamed.
  private mutating func follow(_ move: FolderMove) {
    written.follow(move)
    finished.follow(move)
    files = files.map(move.followed)
  }

  /// Completes a file that was the growing one.
  private mutating func close(_ ending: consuming GrowingSeriesFile?) throws(FileFailure) {
    guard var ending = ending.take() else { return }
    let before = ending.file.frames
    var failure: FileFailure?
    do throws(FileFailure) {
      try ending.complete()
    } catch {
      failure = error
    }
    let file = ending.file
    frames += file.frames - before
    files.append(file)
    if !plan.isStream { written.insertComplete(file.path) }
    if let failure { throw failure }
    guard !plan.isStream else { return }
    events.emit(.finished(file))
    finished.add(file.path, end: end)
  }
}
