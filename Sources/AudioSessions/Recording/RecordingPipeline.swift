import AudioBasics
import AudioClocks
import AudioFiles
import AudioLevels
import RealtimeAudio
import VoiceCleaning

/// The processing of captured frames on their way to disk: moved by a fraction of a frame, cleaned,
/// let through or left out by a gate, measured, and written. Disk thread. Frames are counted from
/// the first one captured; the commands and reports of others count frames on the unit's timeline.
struct RecordingPipeline: ~Copyable {
  /// The most frames processed at once.
  static let chunkFrames = 4096

  /// What the gate does with the coming frames.
  private enum GateState {
    /// It leaves them out.
    case closed
    /// It lets them through.
    case open
    /// It has let all its frames through, and ignores the commands of the user.
    case finished
  }

  private let plan: RecordingPlan
  private let events: RecordingEvents
  private let wall: WallClock
  private var output: DelayedFiles
  /// The unprocessed frames, kept in addition to the processed ones.
  private var raw: RawRecording?
  private var shift: FrameShift?
  private var cleaner: VoiceCleaner?
  private var gate: any RecordingGate
  private var check: LoudnessMeter?
  private var gaps = GapList()
  private var points = RecordingCommandPoints()
  private var gateState = GateState.closed
  /// Whether the user paused. A pause begins and ends regardless of the gate.
  private(set) var isPaused = false
  /// The frames received, and the frames of the timeline that were written or left out.
  private var receivedFrames = 0
  private var position = 0
  /// The cleaner's delay in frames, and the number of frames that are only measured: the gate's
  /// frame count begins after these.
  private let delayFrames: Int
  private let checkFrames: Int
  /// The first captured frame: its time on the device's clock, and its frame on the timeline.
  private var beginning = (nanoseconds: 0, frame: 0)
  private(set) var report: RecordingReport

  /// Records according to `plan` and `gate`.
  init(
    _ plan: RecordingPlan, gate: any RecordingGate, cleaner: consuming VoiceCleaner?,
    shift: consuming FrameShift?, events: RecordingEvents
  ) throws(FileFailure) {
    let delay = cleaner?.delayFrames ?? 0
    // Twice the memory is needed if the uncleaned audio is kept as well.
    let lookahead =
      min(max(0, gate.lookaheadFrames), RecordingPlan.maximumFrames) + Self.chunkFrames
    guard
      SampleBuffer.hasRoom(
        frameCount: lookahead + delay,
        channelCount: plan.channelCount * (plan.rawPath == nil ? 1 : 2))
    else {
      throw FileFailure(
        .invalidRequest, "There is no memory for the sound before the start.",
        hint: "Ask for a shorter pre-roll.")
    }
    let written = WrittenFiles()
    let made = try DelayedFiles(plan, frameCount: lookahead, events: events, written: written)
    if let rawPlan = plan.raw {
      raw = try RawRecording(
        rawPlan, frameCount: lookahead + delay, events: events, written: written)
    } else {
      raw = nil
    }
    output = made
    checkFrames = plan.checkFrames
    check =
      checkFrames > 0
      ? LoudnessMeter(sampleRate: plan.sampleRate, channelCount: plan.channelCount) : nil
    self.gate = gate
    self.shift = shift
    self.cleaner = cleaner
    self.plan = plan
    report = RecordingReport(plan)
    self.events = events
    wall = WallClock(isVirtual: plan.isVirtual)
    delayFrames = delay
  }

  /// The most frames accepted at once: a block ends at the cleaner's delay and at the level check.
  var maximumInputFrames: Int {
    func left(to edge: Int) -> Int {
      let frames = edge + delayFrames - receivedFrames
      return frames > 0 ? frames : Self.chunkFrames
    }
    return min(
      Self.chunkFrames, left(to: 0), left(to: checkFrames), left(to: points.startFrame ?? 0))
  }

  /// Whether the gate lets frames through.
  var isOpen: Bool { gateState == .open }

  /// Whether the gate has let all its frames through.
  var isOver: Bool { gateState == .finished }

  /// Whether samples are changed before they are written, and so must be passed to `process`.
  var changesSamples: Bool { shift != nil || cleaner != nil }

  /// Whether a command for a file runs or waits.
  var isBusy: Bool { output.series.isBusy }

  /// Returns the growing files.
  mutating func growingFiles() -> [GrowingFile] {
    let own = output.series.current.map { GrowingFile(plan: plan, file: $0) }
    return [own, raw?.growingFile].compactMap { $0 }
  }

  /// The number of frames written to all files.
  var frames: Int { output.series.frames }

  /// The number of bytes in all files, without those that were removed.
  var byteCount: Int { output.series.byteCount }

  /// The levels so far.
  var levels: ProgrammeLevels { output.levels.programme }

  /// The number of frames kept if all of them are digital silence; otherwise 0.
  var silentFrames: Int { output.levels.isSilent ? output.series.frames : 0 }

  /// Whether frames received as 16-bit samples are needed as floating-point samples as well.
  var needsSamples: Bool {
    plan.measuresLevels || check != nil || raw != nil || gate.needsSamples
      || gate.lookaheadFrames > 0 || !output.series.acceptsIntegers
  }

  /// Sets the first frame to `firstFrame` of the unit's timeline, captured at `nanoseconds` of the
  /// device's clock.
  mutating func begin(at nanoseconds: Int, firstFrame: Int) {
    beginning = (nanoseconds, firstFrame)
  }

  /// Adds a gap: the `frames` frames from `frame` on were lost, and silence follows in their place.
  mutating func noteGap(at frame: Int, frames: Int) {
    let first = frame + (shift != nil ? FrameShift.delayFrames : 0)
    gaps.add(first..<first + frames)
    points.add(.gap(frames), at: first)
  }

  /// Adds `command` of the user at the unit's frame `timelineFrame`. Call it after `begin`.
  mutating func note(_ command: RecordingCommand, at timelineFrame: Int) {
    points.add(.command(command), at: max(0, timelineFrame - beginning.frame))
  }

  /// Processes the next `frames` captured frames, at most `maximumInputFrames`, and may change
  /// them; `played` contains the frames played at the same time.
  mutating func process(
    _ buffer: inout SampleBuffer, played: borrowing SampleBuffer?, frames: Int
  ) throws(FileFailure) {
    shift?.process(&buffer, frames: frames)
    raw?.store(buffer, 0..<frames)
    switch played {
    case .some(let played): cleaner?.clean(&buffer, played: played, frames: frames)
    case .none: cleaner?.clean(&buffer, frames: frames)
    }
    try write(buffer, Span(), 0..<frames)
  }

  /// Writes the captured frames of `range` unchanged. `integers` contains the samples of `buffer`
  /// in 16 bits, or is empty; if it is not, `buffer` may contain anything unless `needsSamples`.
  mutating func record(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, _ range: Range<Int>
  ) throws(FileFailure) {
    raw?.store(buffer, range)
    try write(buffer, integers, range)
  }

  /// Writes the last frames that the cleaner holds, and completes the files. Overwrites `scratch`.
  mutating func finish(_ scratch: inout SampleBuffer) throws(FileFailure) {
    // As many frames as the cleaner's delay, however short the recording is.
    var rest = receivedFrames > 0 ? delayFrames : 0
    while rest > 0 {
      let count = min(rest, maximumInputFrames)
      scratch.clear(frames: count)
      cleaner?.clean(&scratch, frames: count)
      try write(scratch, Span(), 0..<count)
      rest -= count
    }
    gate.finish()
    try followGate(scratch, Span())
    try advance(to: receivedFrames - delayFrames, scratch, Span())
    closeSegment()
    for label in points.takeMarks() { events.emit(.unsetMarker(label)) }
    try complete()
    if let failure = raw?.failure { throw failure }
  }

  /// Completes the files with their present contents, after the disk refused data.
  mutating func fail(_ failure: FileFailure) {
    closeSegment()
    report.failure = failure
    do throws(FileFailure) {
      try complete()
    } catch {
      // The same kind of failure at the end states more exactly what the file contains.
      if error.kind == failure.kind { report.failure = error }
    }
  }

  private mutating func complete() throws(FileFailure) {
    defer { endReport() }
    report.levels = levels
    report.isSilent = silentFrames > 0
    _ = endPause()
    raw?.finish()
    report.rawPaths = raw?.paths ?? []
    try output.series.finish(report.levels)
  }

  /// Ends the report with the frames in the files, which after a full disk may be fewer than were
  /// written. A marker without a frame after it is in no file.
  private mutating func endReport() {
    let end = output.series.frames
    for marker in report.markers where marker.frame >= end {
      events.emit(.unsetMarker(marker.label))
    }
    report.markers.removeAll { $0.frame >= end }
    report.end(at: end, losing: output.series.lostFrames)
  }

  /// Makes the files valid in their present state; with `synchronizing`, waits for the disk.
  mutating func refresh(synchronizing: Bool) throws(FileFailure) {
    try output.series.refresh(synchronizing: synchronizing)
    raw?.refresh(synchronizing: synchronizing)
  }

  /// Stops waiting for commands.
  mutating func leaveCommands() {
    output.series.leaveCommands()
  }

  /// Starts commands for complete files, and removes surplus files.
  mutating func poll() {
    output.series.poll(at: time(of: position).device)
    report.files = output.series.files
    report.frames = output.series.frames
  }

  /// Passes the frames of `range` to the gate, and writes those about which it has decided.
  private mutating func write(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>, _ range: Range<Int>
  ) throws(FileFailure) {
    let first = receivedFrames - delayFrames
    receivedFrames += range.count
    // The cleaner delivers no frames before its first one.
    guard first >= 0 else { return }
    output.append(range)
    defer { output.store(buffer) }
    if first < checkFrames {
      check?.add(buffer, from: range.lowerBound, frames: range.count)
      try advance(to: first + range.count, buffer, integers)
      if first + range.count == checkFrames, let levels = check?.levels {
        check = nil
        events.emit(.checked(levels))
      }
      return
    }
    if points.takeStart(upTo: first) { gate.start() }
    gate.process(buffer, from: range.lowerBound, frames: range.count)
    try followGate(buffer, integers)
  }
}

/// The segments and pauses of a recording, which the gate and the user decide. Disk thread.
extension RecordingPipeline {
  /// Whether the coming frames are kept.
  private var isKeeping: Bool { isOpen && !isPaused }

  private var timelineFrame: Int { beginning.frame + position }

  /// Whether the gate only determines where the next file may begin.
  private var keepsPauses: Bool { plan.split == .silence && !plan.leavesSilenceOut }

  /// Opens and closes segments at the gate's edges, and writes the frames that are decided.
  private mutating func followGate(
    _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>
  ) throws(FileFailure) {
    while let edge = gate.nextEdge() {
      try advance(to: checkFrames + edge.frame, buffer, integers)
      switch edge {
      case .open: openSegment()
      case .close: if keepsPauses { output.series.split() } else { closeSegment() }
      }
    }
    try advance(to: checkFrames + gate.decidedFrame, buffer, integers)
  }

  private mutating func openSegment() {
    guard !isOpen else { return }
    gateState = .open
    if plan.isFilePerSegment { output.series.split() }
    let segment = RecordedSegment(
      timelineFrame: timelineFrame, frame: output.series.frames, start: time(of: position).wall)
    report.segments.append(segment)
    guard plan.leavesSilenceOut else { return }
    events.emit(.opened(segment))
    // A separate file for each segment contains its start time.
    if !plan.isFilePerSegment { output.series.mark(LocalTime(segment.start).text) }
  }

  private mutating func closeSegment() {
    guard isOpen, !report.segments.isEmpty else { return }
    gateState = plan.leavesSilenceOut ? .closed : .finished
    let last = report.segments.count - 1
    report.segments[last].frames = max(0, output.series.frames - report.segments[last].frame)
    if plan.leavesSilenceOut { events.emit(.closed(report.segments[last])) }
  }

  /// Writes the frames that wait before `frame` of the timeline, or leaves them out.
  private mutating func advance(
    to frame: Int, _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>
  ) throws(FileFailure) {
    while position < frame {
      if keepsPauses, position >= checkFrames { openSegment() }
      runCommands()
      let wanted = min(frame, points.nextFrame(after: position)) - position
      guard try pass(wanted, buffer, integers) > 0 else { return }
    }
    // If the gate is closed, it may open at this very frame, and commands come after that.
    if isOpen { runCommands() }
  }

  /// Writes the oldest frames, at most `wanted`, or leaves them out. Returns their number.
  private mutating func pass(
    _ wanted: Int, _ buffer: borrowing SampleBuffer, _ integers: Span<Int16>
  ) throws(FileFailure) -> Int {
    let (isKept, start, before) = (isKeeping, time(of: position), output.series.frames)
    // Updated even if the disk fails in the middle, since the written frames count.
    defer { report.frames = output.series.frames }
    let count = try output.take(wanted, buffer, integers, isKept: isKept, start: start)
    raw?.take(count, isKept: isKept, start: start)
    if isKept {
      for gap in gaps.overlap(with: position..<position + count) {
        report.add(RecordingGap(frame: before + gap.lowerBound - position, frames: gap.count))
      }
    }
    position += count
    return count
  }

  /// Performs what is due at the next frame. Nothing is due once the gate is finished.
  private mutating func runCommands() {
    while !isOver, let due = points.take(upTo: position) {
      switch due.point {
      case .command(.split): output.series.split()
      case .command(.mark(let label)):
        let marker = RecordedMarker(frame: output.series.frames, label: label)
        output.series.mark(label)
        report.markers.append(marker)
        events.emit(.marker(marker))
      case .command(.pause): pause()
      case .command(.resume): resume()
      case .command(.start): break
      // A gap that began while nothing was kept is not part of the recording.
      case .gap(let frames) where due.frame == position && isKeeping:
        output.series.mark(SoundFileMarker.gapLabel(frames: frames))
      case .gap: break
      }
    }
  }

  private mutating func pause() {
    guard !isPaused else { return }
    isPaused = true
    let pause = RecordingPause(frame: output.series.frames, timelineFrame: timelineFrame)
    report.pauses.append(pause)
    events.emit(.paused(pause))
  }

  private mutating func resume() {
    guard let pause = endPause() else { return }
    output.series.mark(SoundFileMarker.pauseLabel(frames: pause.frames))
    events.emit(.resumed(pause))
  }

  /// Ends the present pause and returns it with its length; nil if there is none.
  private mutating func endPause() -> RecordingPause? {
    guard isPaused, let last = report.pauses.indices.last else { return nil }
    isPaused = false
    report.pauses[last].frames = timelineFrame - report.pauses[last].timelineFrame
    return report.pauses[last]
  }

  private func time(of frame: Int) -> CaptureTime {
    wall.time(
      at: beginning.nanoseconds
        + Int(clamping: FrameTime.nanoseconds(of: frame, at: plan.sampleRate)))
  }
}
