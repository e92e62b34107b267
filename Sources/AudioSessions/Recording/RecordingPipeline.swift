import AudioBasics
import AudioClocks
import AudioFiles
import AudioLevels
import RealtimeAudio
import VoiceCleaning

/// What becomes of captured frames on their way to disk: moved by a fraction of a frame, cleaned,
/// let through or left out by a gate, measured, and written. Disk thread.
///
/// Frames are counted on the unit's timeline. What the gate has not decided yet waits in `waiting`; what it
/// decides at once is written from where it came.
struct RecordingPipeline: ~Copyable {
  /// The most frames handled at once.
  static let chunkFrames = 4096

  let plan: RecordingPlan
  let events: RecordingEvents
  let wall: WallClock
  var series: FileSeries
  var raw: UnprocessedRecording?
  private var rawFailure: FileFailure?
  private var shift: FrameShift?
  private var cleaner: VoiceCleaner?
  var gate: any RecordingGate
  var loudness: LoudnessMeter
  private var check: LoudnessMeter?
  var gaps = GapList()
  var points = RecordingCommandPoints()
  /// Where the user wants the take to begin.
  private var startFrame: Int?
  private var waiting: SampleWriter
  private var taken: SampleReader
  private var chunk: SampleBuffer
  /// Frames of the chunk that came in just now and are not settled.
  private var fresh = 0..<0
  var isOpen = false
  /// Whether the user paused.
  private(set) var isPaused = false
  /// Whether the gate let through all that it will.
  var isOver = false
  /// Frames that came in, and those of the timeline that were kept or left out.
  private var cameIn = 0
  var settled = 0
  /// Frames by which what is cleaned comes out late, and frames that are only judged: the gate's own
  /// count begins behind these.
  private let lateFrames: Int
  let checkFrames: Int
  /// When the timeline began, in nanoseconds of the device's clock.
  var origin = 0

  var report = RecordingReport()

  /// A take as `plan` says, of what `gate` lets through. `rawPlan` is for what was not cleaned.
  init(
    _ plan: RecordingPlan, gate: any RecordingGate, cleaner: consuming VoiceCleaner?,
    shift: consuming FrameShift?, rawPlan: RecordingPlan?, events: RecordingEvents
  ) throws(FileFailure) {
    let late = cleaner?.delayFrames ?? 0
    let lookahead = gate.lookaheadFrames + Self.chunkFrames
    let channelCount = plan.channelCount
    let made = try FileSeries(plan, events: events)
    if let rawPlan {
      raw = try UnprocessedRecording(rawPlan, lookahead: lookahead + late, events: events)
    } else {
      raw = nil
    }
    series = made
    let ring = SampleWriter(frameCount: lookahead, channelCount: channelCount)
    taken = ring.makeReader()
    waiting = ring
    chunk = SampleBuffer(frameCount: Self.chunkFrames, channelCount: channelCount)
    loudness = LoudnessMeter(sampleRate: plan.sampleRate, channelCount: channelCount)
    checkFrames = Int(clamping: plan.checkSeconds * Double(plan.sampleRate))
    check =
      checkFrames > 0
      ? LoudnessMeter(sampleRate: plan.sampleRate, channelCount: channelCount) : nil
    self.gate = gate
    self.shift = shift
    self.cleaner = cleaner
    self.plan = plan
    self.events = events
    wall = WallClock(isVirtual: plan.isVirtual)
    lateFrames = late
  }

  /// Most frames that `process` takes: a block ends where the cleaner's delay or the level check does.
  var maximumInputFrames: Int {
    let edges = [0, checkFrames, startFrame ?? 0]
    return edges.map { $0 + lateFrames - cameIn }.filter { $0 > 0 }.min()
      .map { min($0, Self.chunkFrames) } ?? Self.chunkFrames
  }

  /// Whether what is heard is kept.
  private var isKeeping: Bool { isOpen && !isPaused }

  /// Whether a file's command runs or waits.
  var isBusy: Bool { series.isBusy }

  /// The growing file.
  var file: RecordedFile? { series.current }

  /// The timeline began at `nanoseconds` of the device's clock.
  mutating func begin(at nanoseconds: Int) {
    origin = nanoseconds
  }

  /// Frames from `frame` on were lost: silence will come in their place.
  mutating func noteGap(at frame: Int, frames: Int) {
    let first = frame + (shift != nil ? FrameShift.delayFrames : 0)
    gaps.add(first..<first + frames)
    points.add(.gap(frames), at: first)
  }

  /// The user asks for `command` at `frame`.
  mutating func note(_ command: RecordingCommand, at frame: Int) {
    if command == .start {
      startFrame = startFrame ?? frame
    } else {
      points.add(.command(command), at: frame)
    }
  }

  /// The next `frames` captured frames, at most `maximumInputFrames`; `played` is what was played meanwhile.
  mutating func process(
    _ buffer: inout SampleBuffer, played: borrowing SampleBuffer?, frames: Int
  ) throws(FileFailure) {
    shift?.process(&buffer, frames: frames)
    raw?.process(buffer, frames: frames)
    if cleaner != nil {
      switch played {
      case .some(let played): cleaner?.clean(&buffer, played: played, frames: frames)
      case .none: cleaner?.clean(&buffer, frames: frames)
      }
    }
    try pass(&buffer, frames: frames)
  }

  /// Hears the last of what the cleaner kept, and completes the files.
  mutating func finish(_ chunk: inout SampleBuffer) throws(FileFailure) {
    // As much as it is late, however short the take is.
    var rest = cameIn > 0 ? lateFrames : 0
    while rest > 0 {
      let count = min(rest, maximumInputFrames)
      chunk.clear(frames: count)
      cleaner?.clean(&chunk, frames: count)
      try pass(&chunk, frames: count)
      rest -= count
    }
    gate.finish()
    try followGate()
    try settle(until: cameIn - lateFrames)
    closeStretch()
    try complete()
  }

  /// The disk takes no more: completes the files with what they hold.
  mutating func fail(_ failure: FileFailure) {
    closeStretch()
    report.failure = failure
    do throws(FileFailure) {
      try complete()
    } catch {
      // The same trouble at the end knows better what is in the file.
      if error.kind == failure.kind { report.failure = error }
    }
    report.frames = series.frames
  }

  private mutating func complete() throws(FileFailure) {
    report.levels = loudness.levels
    _ = endPause()
    do throws(FileFailure) {
      try raw?.finish()
    } catch {
      loseRaw(error)
    }
    try series.finish(report.levels)
    if let rawFailure { throw rawFailure }
  }

  /// What was not cleaned can be kept no longer: the take goes on, and the loss is told at the end.
  mutating func loseRaw(_ failure: FileFailure) {
    rawFailure = failure
    raw = nil
    events.emit(.warning(failure))
  }

  /// Makes the files valid as they stand, and with `synchronizing` waits for the disk.
  mutating func refresh(synchronizing: Bool) throws(FileFailure) {
    try series.refresh(synchronizing: synchronizing)
    do throws(FileFailure) {
      try raw?.refresh(synchronizing: synchronizing)
    } catch {
      loseRaw(error)
    }
  }

  /// Waits for no command any more.
  mutating func leave() {
    series.leave()
  }

  /// Attends to complete files.
  mutating func poll() {
    series.poll(at: time(of: settled))
    report.files = series.files
    report.frames = series.frames
  }

  /// Levels so far.
  var levels: ProgrammeLevels { loudness.levels }

  /// Frames that were kept, where all of them are digital silence; else 0.
  var silentFrames: Int { loudness.samplePeaks.allSatisfy { $0 == 0 } ? series.frames : 0 }

  /// Frames on their way through the stages behind the cleaner. `buffer` holds anything afterwards.
  private mutating func pass(
    _ buffer: inout SampleBuffer, frames: Int
  ) throws(FileFailure) {
    let first = cameIn - lateFrames
    cameIn += frames
    // Before its first frame the cleaner tells nothing.
    guard first >= 0 else { return }
    swap(&buffer, &chunk)
    if taken.available > 0 {
      hold(0..<frames)
    } else {
      fresh = 0..<frames
    }
    defer { hold(fresh) }
    if first < checkFrames {
      check?.add(chunk, frames: frames)
      try settle(until: first + frames)
      if first + frames == checkFrames, let levels = check?.levels {
        check = nil
        events.emit(.checked(levels))
      }
      return
    }
    if let start = startFrame, start <= first {
      startFrame = nil
      gate.start()
    }
    gate.process(chunk, frames: frames)
    try followGate()
  }

  /// Keeps frames of the chunk until they are settled.
  private mutating func hold(_ frames: Range<Int>) {
    if !frames.isEmpty { _ = waiting.write(chunk, from: frames.lowerBound, frames: frames.count) }
    fresh = 0..<0
  }

  /// The oldest frames that are not settled, at most `count`: where they lie in the chunk.
  private mutating func takeOldest(_ count: Int) -> Range<Int> {
    guard !fresh.isEmpty else { return 0..<taken.read(into: &chunk, frames: count) }
    let oldest = fresh.prefix(count)
    fresh = oldest.upperBound..<fresh.upperBound
    return oldest
  }
}

/// What of a take is kept, as its gate decides. Disk thread.
extension RecordingPipeline {
  /// Whether the gate only says where the next file may begin.
  private var keepsPauses: Bool { plan.split == .silence && !plan.leavesSilenceOut }

  /// Opens and closes where the gate says so, and settles what is decided.
  mutating func followGate() throws(FileFailure) {
    while let edge = gate.nextEdge() {
      switch edge {
      case .open(let frame):
        try settle(until: checkFrames + frame)
        openStretch()
      case .close(let frame):
        try settle(until: checkFrames + frame)
        if keepsPauses { series.split() } else { closeStretch() }
      }
    }
    try settle(until: checkFrames + gate.settledFrame)
  }

  private mutating func openStretch() {
    guard !isOpen else { return }
    isOpen = true
    if plan.isFilePerStretch { series.split() }
    let stretch = RecordedStretch(
      timelineFrame: settled, frame: series.frames, start: time(of: settled))
    report.stretches.append(stretch)
    guard plan.leavesSilenceOut else { return }
    events.emit(.opened(stretch))
    // A file of its own tells when it began.
    if !plan.isFilePerStretch { series.mark(LocalTime(stretch.start).text) }
  }

  mutating func closeStretch() {
    guard isOpen else { return }
    isOpen = false
    isOver = !plan.leavesSilenceOut
    guard var stretch = report.stretches.popLast() else { return }
    stretch.frames = series.frames - stretch.frame
    report.stretches.append(stretch)
    if plan.leavesSilenceOut { events.emit(.closed(stretch)) }
  }

  /// Keeps what waits before the timeline's `frame`, or leaves it out.
  mutating func settle(until frame: Int) throws(FileFailure) {
    while settled < frame {
      if keepsPauses, settled >= checkFrames { openStretch() }
      if isOpen { obey() }
      let limit = isOpen ? points.nextFrame(after: settled) : .max
      let wanted = min(frame - settled, limit - settled, Self.chunkFrames)
      let oldest = takeOldest(wanted)
      let count = oldest.count
      guard count > 0 else { return }
      let isKept = isKeeping
      if isKept { try keep(oldest) }
      let start = time(of: settled)
      do throws(FileFailure) {
        try raw?.settle(count, isKept: isKept, start: start)
      } catch {
        loseRaw(error)
      }
      settled += count
    }
    if isOpen { obey() }
  }

  private mutating func keep(_ kept: Range<Int>) throws(FileFailure) {
    let before = series.frames
    // Told even where the disk fails in the middle: what was written counts.
    defer { report.frames = series.frames }
    let start = time(of: settled)
    try series.write(chunk, from: kept.lowerBound, frames: kept.count, start: start)
    loudness.add(chunk, from: kept.lowerBound, frames: kept.count)
    for gap in gaps.overlap(with: settled..<settled + kept.count) {
      tellGap(RecordingGap(frame: before + gap.lowerBound - settled, frames: gap.count))
    }
  }

  /// A gap goes on where its last piece ended.
  private mutating func tellGap(_ gap: RecordingGap) {
    if let last = report.gaps.last, last.frame + last.frames == gap.frame {
      report.gaps[report.gaps.count - 1].frames += gap.frames
    } else {
      report.gaps.append(gap)
    }
  }

  /// Does what was wanted at the frame that is settled next.
  private mutating func obey() {
    while let due = points.take(upTo: settled) {
      switch due.point {
      case .command(.split): series.split()
      case .command(.mark(let label)):
        let marker = RecordedMarker(frame: series.frames, label: label)
        series.mark(label)
        report.markers.append(marker)
        events.emit(.marker(marker))
      case .command(.pause): pause()
      case .command(.resume): resume()
      case .command(.start): break
      // What was lost before the take went on is no part of it.
      case .gap(let frames) where due.frame == settled && !isPaused:
        series.mark(SoundFileMarker.gapLabel(frames: frames))
      case .gap: break
      }
    }
  }

  private mutating func pause() {
    guard !isPaused else { return }
    isPaused = true
    let pause = RecordingPause(frame: series.frames, timelineFrame: settled)
    report.pauses.append(pause)
    events.emit(.paused(pause))
  }

  private mutating func resume() {
    guard let pause = endPause() else { return }
    series.mark(SoundFileMarker.pauseLabel(frames: pause.frames))
    events.emit(.resumed(pause))
  }

  /// A pause is as long as it was so far.
  private mutating func endPause() -> RecordingPause? {
    guard isPaused, var pause = report.pauses.popLast() else { return nil }
    isPaused = false
    pause.frames = settled - pause.timelineFrame
    report.pauses.append(pause)
    return pause
  }

  func time(of frame: Int) -> UInt64 {
    let rate = plan.sampleRate
    let nanoseconds = frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate
    return wall.time(at: origin + nanoseconds)
  }
}
