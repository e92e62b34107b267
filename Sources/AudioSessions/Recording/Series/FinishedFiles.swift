import AudioFiles

/// The complete files of a recording: a command runs for each, one at a time and in order, and the
/// oldest are removed when there are more than are to be kept.
struct FinishedFiles: ~Copyable {
  private struct Entry {
    let path: String
    let end: UInt64
    let byteCount: Int
    /// What the path led to: what another program puts there is not ours to remove.
    let identity: FileIdentity?
  }

  private let command: String?
  /// Whether what a command prints is told as an event.
  private let tellsOutput: Bool
  private let rule: KeepRule?
  private let events: RecordingEvents
  private var waiting: [Entry] = []
  private var running: FileCommand?
  private var kept: [Entry] = []
  /// Bytes of those that wait and those that are kept.
  private var byteCount = 0

  init(_ plan: RecordingPlan, events: RecordingEvents) {
    command = plan.onFile
    tellsOutput = plan.tellsCommandOutput
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

  /// `path` is complete; its last frame was captured at `end` nanoseconds since 1970.
  mutating func add(_ path: String, end: UInt64) {
    let entry = Entry(
      path: path, end: end, byteCount: FileRemoval.byteCount(of: path) ?? 0,
      identity: FileIdentity(of: path))
    byteCount += entry.byteCount
    if command == nil { kept.append(entry) } else { waiting.append(entry) }
  }

  /// Starts what is due, and removes what is too much at `now`, where with `isGrowing` one more
  /// file is being written. Returns the paths that are gone.
  mutating func step(at now: UInt64, isGrowing: Bool) -> [String] {
    poll()
    var gone: [String] = []
    while isTooMuch(at: now, isGrowing: isGrowing) {
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

  /// Waits for no command any more, and says which files none was run for.
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
  }

  private mutating func poll() {
    guard let command, let first = waiting.first else { return }
    guard isRunning else {
      do throws(FileFailure) {
        running = try FileCommand(command, for: first.path, keepsOutput: tellsOutput)
      } catch {
        events.emit(.warning(error))
        pass(first)
      }
      return
    }
    do throws(FileFailure) {
      guard try running?.isDone() == true else { return tellLines(isLast: false) }
      tellLines(isLast: true)
    } catch {
      tellLines(isLast: true)
      events.emit(.warning(error))
    }
    pass(first)
  }

  private mutating func tellLines(isLast: Bool) {
    for line in running?.takeLines(isLast: isLast) ?? [] { events.emit(.printed(line)) }
  }

  /// The command for `entry` is over.
  private mutating func pass(_ entry: Entry) {
    running = nil
    waiting.removeFirst()
    kept.append(entry)
  }

  private func isTooMuch(at now: UInt64, isGrowing: Bool) -> Bool {
    guard let rule, let oldest = kept.first else { return false }
    switch rule {
    case .files(let count): return kept.count + waiting.count + (isGrowing ? 1 : 0) > count
    // Where one file is more than that the newest stays: something is kept.
    case .bytes(let count): return byteCount > count && kept.count + waiting.count > 1
    case .seconds(let seconds):
      return Double(now) - Double(oldest.end) > seconds * 1e9
    }
  }
}
