import AudioFiles

/// The complete files of a recording: a command runs for each, one at a time and in order, and the
/// oldest are removed if there are more than the plan keeps.
struct FinishedFiles: ~Copyable {
  private struct Entry {
    var path: String
    let end: Int
    let byteCount: Int
    /// The identity of the file at `path`: a file that another program puts there must not be
    /// removed.
    let identity: FileIdentity?
  }

  private let command: String?
  /// Whether the output of a command is reported as an event.
  private let reportsOutput: Bool
  private let rule: KeepRule?
  private let events: RecordingEvents
  private var waiting: [Entry] = []
  private var running: FileCommand?
  private var kept: [Entry] = []
  /// The number of bytes of the files that wait and those that are kept.
  private(set) var byteCount = 0

  init(_ plan: RecordingPlan, events: RecordingEvents) {
    command = plan.onFile
    reportsOutput = plan.reportsCommandOutput
    rule = plan.keep
    self.events = events
  }

  private var isRunning: Bool {
    switch running {
    case .some: true
    case .none: false
    }
  }

  /// Whether a command runs or waits.
  var isBusy: Bool { !waiting.isEmpty }

  /// Adds the complete file `path`; its last frame was captured at `end` nanoseconds of the
  /// device's clock. A file does not become older if the wall clock is set.
  mutating func add(_ path: String, end: Int) {
    let entry = Entry(
      path: path, end: end, byteCount: FileStatus(of: path)?.byteCount ?? 0,
      identity: FileIdentity(of: path))
    byteCount += entry.byteCount
    if command == nil { kept.append(entry) } else { waiting.append(entry) }
  }

  /// Adopts the new paths of the files whose folder was renamed.
  mutating func follow(_ move: FolderMove) {
    func adopted(_ entry: Entry) -> Entry {
      guard let place = move.place(of: entry.path), FileIdentity(of: place) == entry.identity else {
        return entry
      }
      var entry = entry
      entry.path = place
      return entry
    }
    waiting = waiting.map(adopted)
    kept = kept.map(adopted)
  }

  /// Starts the commands that are due, and removes surplus files at `now`; `isGrowing` means that
  /// one more file is being written. Returns the paths that do not exist any more.
  mutating func step(at now: Int, isGrowing: Bool) -> [String] {
    poll()
    var gone: [String] = []
    while exceedsLimit(at: now, isGrowing: isGrowing) {
      let oldest = kept.removeFirst()
      byteCount -= oldest.byteCount
      guard oldest.identity == FileIdentity(of: oldest.path) else {
        gone.append(oldest.path)
        continue
      }
      do throws(FileFailure) {
        try FileRemoval.remove(oldest.path)
        events.emit(.removed(path: oldest.path))
        gone.append(oldest.path)
      } catch {
        events.emit(.warning(error))
      }
    }
    return gone
  }

  /// Stops waiting for commands, and reports the files for which none was completed.
  mutating func leaveCommands() {
    let isStarted = isRunning
    for (index, entry) in waiting.enumerated() {
      let state = index == 0 && isStarted ? "still runs" : "was not run"
      events.emit(
        .warning(
          FileFailure(
            .writeFailed, "The command for \(entry.path) \(state).",
            hint: "The file is complete; run the command yourself.")))
      byteCount -= entry.byteCount
    }
    waiting = []
    running = nil
  }

  private mutating func poll() {
    guard let command, let first = waiting.first else { return }
    guard isRunning else {
      do throws(FileFailure) {
        running = try FileCommand(command, for: first.path, keepsOutput: reportsOutput)
      } catch {
        events.emit(.warning(error))
        pass(first)
      }
      return
    }
    do throws(FileFailure) {
      guard try running?.isDone() == true else { return reportLines(isLast: false) }
      reportLines(isLast: true)
    } catch {
      reportLines(isLast: true)
      events.emit(.warning(error))
    }
    pass(first)
  }

  private mutating func reportLines(isLast: Bool) {
    for line in running?.takeLines(isLast: isLast) ?? [] { events.emit(.printed(line)) }
  }

  /// Ends the command for `entry`.
  private mutating func pass(_ entry: Entry) {
    running = nil
    waiting.removeFirst()
    kept.append(entry)
  }

  private func exceedsLimit(at now: Int, isGrowing: Bool) -> Bool {
    guard let rule, let oldest = kept.first else { return false }
    switch rule {
    case .files(let count): return kept.count + waiting.count + (isGrowing ? 1 : 0) > count
    // If a single file exceeds the limit, the newest is kept, so that something remains.
    case .bytes(let count): return byteCount > count && kept.count + waiting.count > 1
    case .seconds(let seconds):
      return Double(now &- oldest.end) > seconds * 1e9
    }
  }
}
