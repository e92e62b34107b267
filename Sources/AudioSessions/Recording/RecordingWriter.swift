import AudioBasics
import AudioClocks
import AudioFiles
import RealtimeAudio
import Synchronization
import VoiceCleaning

/// The disk thread's half of a recording: reads the capture ring, hands its frames to the pipeline,
/// and keeps the files valid at every instant: their headers true at least four times a second,
/// their contents on the disk as often as the plan says.
public final class RecordingWriter: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it, and the report is read after the last step.
  private var recorder: Recorder?
  private var playedRecorder: Recorder?
  private var reader: RecordingReader
  /// What is played meanwhile, where an echo is to be taken off.
  private var playedReader: RecordingReader?
  private var pipeline: RecordingPipeline
  private var chunk: SampleBuffer
  private var played: SampleBuffer?
  private var space = SpaceWatch()
  private let plan: RecordingPlan
  /// Whether the ring holds less than half a second.
  private let hasShortRing: Bool
  private var isSilenceTold = false
  private let saving = Atomic(false)
  /// When headers are made true, what they tell of is put on the disk, levels are told, and the
  /// room on the disk is looked at.
  private var headers: FrameInterval
  private var syncs: FrameInterval
  private var states: FrameInterval
  private var looks: FrameInterval
  private let isComplete = AtomicFlag()
  private let hasFailed = AtomicFlag()
  private let hasEnded = AtomicFlag()
  private let isWaiting = AtomicFlag()
  private let hasLeft = AtomicFlag()
  private let isAbandoned = AtomicFlag()

  /// What the user asks of the recording. Any thread but the audio thread.
  public let remote = RecordingRemote()
  /// What happens to it. Any thread but the audio thread.
  public let events: RecordingEvents

  /// What became of the recording; complete when `step` has answered false.
  public private(set) var report = RecordingReport()

  /// Writes what its recorder captures as `plan` says: what `gate` lets through, moved by the
  /// fraction of a frame that `shift` says, cleaned by `cleaner`, which gets from a recorder of
  /// `playedChannels` channels what was played; `rawPath` gets what was not cleaned. Rings hold
  /// `ringFrames` frames of a disk that stands still, those that are just being written among them.
  /// Throws what making files throws.
  public init(
    _ plan: RecordingPlan, ringFrames: Int, gate: any RecordingGate = WindowGate(PunchWindow()),
    shift: consuming FrameShift? = nil, cleaner: consuming VoiceCleaner? = nil,
    playedChannels: Int = 0, rawPath: String? = nil
  ) throws(FileFailure) {
    try plan.validate()
    var plan = plan
    plan.rawPath = rawPath
    let widest = max(plan.channelCount, playedChannels)
    guard SampleBuffer.hasRoom(frameCount: ringFrames, channelCount: widest) else {
      throw FileFailure(
        .invalidRequest,
        "There is no memory for a ring of \(ringFrames / max(1, plan.sampleRate)) seconds.",
        hint: "Ask for a shorter one, or end other programs.", remedy: .shortenRing)
    }
    let events = RecordingEvents()
    let made = try RecordingPipeline(
      plan, gate: gate, cleaner: cleaner, shift: shift, rawPlan: rawPath.map { plan.raw($0) },
      events: events)
    let recorder = Recorder(
      frameCount: ringFrames, channelCount: plan.channelCount, sampleRate: plan.sampleRate,
      isSixteenBit: plan.isSixteenBit && !made.changesSamples)
    reader = recorder.makeReader()
    self.recorder = consume recorder
    pipeline = made
    if playedChannels > 0 {
      let recorder = Recorder(
        frameCount: ringFrames, channelCount: playedChannels, sampleRate: plan.sampleRate)
      playedReader = recorder.makeReader()
      playedRecorder = consume recorder
      played = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: playedChannels)
    } else {
      playedReader = nil
      playedRecorder = nil
      played = nil
    }
    chunk = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: plan.channelCount)
    // Found due at the next step, which may be a twentieth later: no header is older than a quarter
    // of a second.
    headers = FrameInterval(plan.sampleRate / 5)
    // What is written while the disk works is one interval older when its turn comes.
    syncs = FrameInterval(Int(clamping: plan.syncSeconds * Double(plan.sampleRate) / 2))
    // As often as a panel shows them.
    states = FrameInterval(plan.sampleRate / 20)
    looks = FrameInterval(plan.sampleRate, isDueAtOnce: true)
    hasShortRing = ringFrames < plan.sampleRate / 2
    self.plan = plan
    self.events = events
  }

  /// The audio thread's half, once.
  public func takeRecorder() -> Recorder? { recorder.take() }

  /// The half that records what is played, once; nil where it is not needed.
  public func takePlayedRecorder() -> Recorder? { playedRecorder.take() }

  /// Whether the file can take no more. Any thread.
  public var isFailed: Bool { hasFailed.isRaised }

  /// Whether the gate let through all that it will: what comes is not kept. Any thread.
  public var isGateFinished: Bool { hasEnded.isRaised }

  /// Writes what is in the capture ring now.
  public func step() -> Bool {
    saving.store(!plan.isStream, ordering: .relaxed)
    let goesOn = save()
    // Commands for files that are complete are waited for between two steps as well.
    saving.store(goesOn && isWaiting.isRaised, ordering: .relaxed)
    return goesOn
  }

  /// Whether a step is under way, or commands are waited for. What goes to a pipe is read by a
  /// program that may be stopped, and is never whole.
  public var isSaving: Bool { saving.load(ordering: .relaxed) }

  /// Each wake-up costs as much as what it writes: a recording of which nobody asks the levels
  /// takes twenty steps a second. What is read while it is written, as from a pipe, and what has a
  /// short ring takes fifty.
  public var stepMilliseconds: Int {
    let isLooked = plan.measuresLevels && events.isStateWanted
    return plan.isStream || hasShortRing || isLooked ? 20 : 50
  }

  /// Until all files are complete.
  public var isUnfinished: Bool { !isComplete.isRaised }

  /// Whether all is saved, and only commands for complete files are waited for. Any thread.
  public var isWaitingForOthers: Bool { isWaiting.isRaised }

  private func save() -> Bool {
    // What is complete may still wait for a command.
    guard !isComplete.isRaised else { return poll() }
    do throws(FileFailure) {
      // In this order: what is in the ring after the end was announced is all there will be.
      let isLast = reader.isFinished || isAbandoned.isRaised
      try processQueued(isLast: isLast)
      if pipeline.isOver { hasEnded.raise() }
      guard isLast else {
        pipeline.poll()
        return true
      }
      try pipeline.finish(&chunk)
    } catch {
      pipeline.fail(error)
      hasFailed.raise()
    }
    isComplete.raise()
    report = pipeline.report
    report.overflowFrames = reader.overflowFrames
    return poll()
  }

  /// Does nothing: the recording ends when the recorder closes its ring.
  public func conclude() {}

  /// Ends the recording with the frames that are in the ring now.
  public func abandon() { isAbandoned.raise() }

  /// Whether commands for complete files run or wait.
  private func poll() -> Bool {
    pipeline.poll()
    report.files = pipeline.report.files
    guard pipeline.isBusy else { return false }
    isWaiting.raise()
    guard hasLeft.isRaised else { return true }
    pipeline.leaveCommands()
    return false
  }

  /// Waits for no command any more: the one that runs goes on by itself, the others are told. Any
  /// thread.
  public func leaveCommands() { hasLeft.raise() }

  private func processQueued(isLast: Bool) throws(FileFailure) {
    while true {
      while let gap = reader.takeGap(isLast: isLast) {
        pipeline.noteGap(at: reader.position, frames: gap.frames)
        if gap.kind == .overflow {
          events.emit(.overflow(frame: reader.position, frames: gap.frames))
        }
      }
      // In this order: what is asked from now on is meant for frames that come later. And before
      // each piece: on a slow disk there is more to write each time.
      let available = min(reader.available, playedFrames(isLast: isLast))
      if let firstFrame = reader.firstFrame {
        pipeline.begin(at: reader.origin, firstFrame: firstFrame)
        for order in remote.take() { pipeline.note(order.command, at: order.frame) }
      }
      let most = min(pipeline.maximumInputFrames, available)
      let isChanged = pipeline.changesSamples || reader.isInGap
      let count = try isChanged ? process(most) : record(most)
      guard count > 0 else { return }
      try refresh(after: count)
    }
  }

  /// Hands on at most `frames` frames as a copy; returns how many there were.
  private func process(_ frames: Int) throws(FileFailure) -> Int {
    let count = reader.read(into: &chunk, frames: frames)
    guard count > 0 else { return 0 }
    fillPlayed(count)
    try pipeline.process(&chunk, played: played, frames: count)
    return count
  }

  /// Hands on at most `frames` frames where they lie in the ring; returns how many there were.
  private func record(_ frames: Int) throws(FileFailure) -> Int {
    let piece = reader.piece(atMost: frames)
    defer { reader.skip(piece.count) }
    guard !piece.isEmpty else { return 0 }
    if reader.isSixteenBit {
      if pipeline.needsSamples { reader.copy(piece, into: &chunk) }
      try pipeline.record(chunk, reader.words(of: piece), 0..<piece.count)
    } else {
      try pipeline.record(reader.samples, Span(), piece)
    }
    return piece.count
  }

  /// Frames of what was played that are there: what was captured meanwhile waits for them.
  private func playedFrames(isLast: Bool) -> Int {
    guard playedReader != nil, !isLast else { return RecordingPipeline.chunkFrames }
    while playedReader?.takeGap(isLast: false) != nil {}
    return playedReader?.available ?? 0
  }

  private func fillPlayed(_ frames: Int) {
    guard var buffer = played.take() else { return }
    var done = 0
    while done < frames {
      while playedReader?.takeGap(isLast: false) != nil {}
      let count = playedReader?.read(into: &buffer, at: done, frames: frames - done) ?? 0
      guard count > 0 else { break }
      done += count
    }
    buffer.clear(from: done, frames: frames - done)
    played = consume buffer
  }

  /// Does what is due after `count` frames more.
  private func refresh(after count: Int) throws(FileFailure) {
    headers.pass(count)
    syncs.pass(count)
    states.pass(count)
    looks.pass(count)
    if headers.takeDue() { try pipeline.refresh(synchronizing: syncs.takeDue()) }
    if states.takeDue(), events.isStateWanted { publish() }
    if looks.takeDue() {
      tellOfSilence()
      let left = space.look(at: pipeline.growingFiles(), events: events)
      // The real disk is no part of virtual time, where every run is the same.
      if !plan.isVirtual { events.update { $0.secondsLeft = left } }
    }
  }

  /// Tells once that only silence was kept from the beginning on.
  private func tellOfSilence() {
    guard !isSilenceTold, pipeline.silentFrames >= 2 * plan.sampleRate else { return }
    isSilenceTold = true
    events.emit(.onlySilence)
  }

  private func publish() {
    let (levels, isOpen, isPaused) = (pipeline.levels, pipeline.isOpen, pipeline.isPaused)
    let path = pipeline.growingFiles().first { $0.plan.path == plan.path }?.file.path
    events.update { state in
      state.path = path
      state.levels = levels
      state.isOpen = isOpen
      state.isPaused = isPaused
    }
  }
}

/// Something that is due again and again, by frames.
private struct FrameInterval {
  private let length: Int
  private var passed = 0

  /// Due each `length` frames; with `isDueAtOnce` with the first ones, too.
  init(_ length: Int, isDueAtOnce: Bool = false) {
    self.length = max(1, length)
    if isDueAtOnce { passed = self.length }
  }

  /// That number of frames went by.
  mutating func pass(_ frames: Int) {
    passed += frames
  }

  /// Whether it is due; then it begins anew.
  mutating func takeDue() -> Bool {
    guard passed >= length else { return false }
    passed = 0
    return true
  }
}
