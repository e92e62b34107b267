import AudioBasics
import AudioClocks
import AudioFiles
import RealtimeAudio
import Synchronization
import VoiceCleaning

/// The disk thread's half of a recording: reads the capture ring, passes its frames to the
/// pipeline, and keeps the files valid at every instant. It updates their headers at least four
/// times a second, and synchronizes their contents with the disk as often as the plan requires.
public final class RecordingWriter: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it, and the report is read after the last step.
  private var recorder: Recorder?
  private var echoReferenceRecorder: Recorder?
  private var input: RecordingInput
  private var pipeline: RecordingPipeline
  private var schedule: RecordingSchedule
  private var space = SpaceWatch()
  private let plan: RecordingPlan
  /// Whether the ring holds less than 500 ms.
  private let hasShortRing: Bool
  private var isSilenceReported = false
  /// Advanced by the disk thread only.
  private let phase = Atomic(Phase.open)
  /// Set by the disk thread only.
  private let earlyEnd = Atomic(EarlyEnd.none)
  /// Whether the end, or the end of the wait for commands, is requested. Any thread.
  private let isConcluded = AtomicFlag()
  private let leavesCommands = AtomicFlag()
  private let isEchoReferenceTaken = AtomicFlag()

  /// How far the recording has come.
  private enum Phase: UInt8, AtomicRepresentable {
    /// The files are incomplete, and no step runs.
    case open
    /// The files are incomplete, and a step runs.
    case writing
    /// The files are complete; the step that completed them has not ended.
    case complete
    /// The files are complete; commands for them run or wait.
    case waiting
    /// All is done, and no commands were waited for.
    case done
    /// All is done, and commands were waited for.
    case doneAfterWaiting

    var isComplete: Bool { self != .open && self != .writing }
  }

  /// The reason for which later frames are not kept, although the recorder may capture some.
  private enum EarlyEnd: UInt8, AtomicRepresentable {
    case none, gateFinished, failed
  }

  /// The commands of the user to the recording. Any thread but the audio thread.
  public let control = RecordingControl()
  /// The events of the recording. Any thread but the audio thread.
  public let events: RecordingEvents

  /// The result of the recording; complete when `step` has returned false.
  public private(set) var report = RecordingReport()

  /// Writes the frames that its recorder captures according to `plan`: those that `gate` lets
  /// through, moved by the fraction of a frame in `shift` and cleaned by `cleaner`, which gets the
  /// played frames from a recorder of `playedChannels` channels. The uncleaned frames are written
  /// to `rawPath`, unless it is nil, in the format of its extension. The rings hold `ringFrames`
  /// frames while the disk stalls, including those being written. Throws the errors of creating
  /// files, and `.invalidRequest` for a plan that no file can hold, more than 1,024 played
  /// channels, or rings without memory.
  public init(
    _ plan: RecordingPlan, ringFrames: Int, gate: any RecordingGate = WindowGate(PunchWindow()),
    shift: consuming FrameShift? = nil, cleaner: consuming VoiceCleaner? = nil,
    playedChannels: Int = 0, rawPath: String? = nil
  ) throws(FileFailure) {
    var plan = plan
    plan.rawPath = rawPath
    try plan.validate()
    let widest = max(plan.channelCount, playedChannels)
    guard playedChannels <= SampleBuffer.maximumChannels else {
      throw FileFailure(
        .invalidRequest, "\(playedChannels) played channels cannot be recorded.",
        hint: "Record \(SampleBuffer.maximumChannels) or fewer.")
    }
    guard SampleBuffer.hasRoom(frameCount: ringFrames, channelCount: widest) else {
      throw FileFailure(
        .invalidRequest,
        "There is no memory for a ring of \(ringFrames / max(1, plan.sampleRate)) seconds.",
        hint: "Ask for a shorter one, or end other programs.", remedy: .shortenRing)
    }
    let events = RecordingEvents()
    let made = try RecordingPipeline(
      plan, gate: gate, cleaner: cleaner, shift: shift, events: events)
    let recorder = Recorder(
      frameCount: ringFrames, channelCount: plan.channelCount, sampleRate: plan.sampleRate,
      isSixteenBit: plan.isSixteenBit && !made.changesSamples)
    var echoReferenceRecorder: Recorder?
    if playedChannels > 0 {
      echoReferenceRecorder = Recorder(
        frameCount: ringFrames, channelCount: playedChannels, sampleRate: plan.sampleRate)
    }
    input = RecordingInput(
      of: recorder, channelCount: plan.channelCount,
      echoReferenceRecorder: echoReferenceRecorder, playedChannels: playedChannels)
    self.recorder = consume recorder
    self.echoReferenceRecorder = consume echoReferenceRecorder
    pipeline = made
    schedule = RecordingSchedule(plan)
    hasShortRing = ringFrames < plan.sampleRate / 2
    self.plan = plan
    self.events = events
    events.update { $0.sampleRate = plan.sampleRate }
  }

  /// Returns the audio thread's half, once. The recording ends when the recorder is finished, as a
  /// mixer does at the end of a session, or with `conclude`, as a session does.
  public func takeRecorder() -> Recorder? { recorder.take() }

  /// Returns the half that records the played frames, once; nil if it is not needed. If it is not
  /// taken, the played frames are silence.
  public func takeEchoReferenceRecorder() -> Recorder? {
    isEchoReferenceTaken.raise()
    return echoReferenceRecorder.take()
  }

  /// Whether the files cannot be written any more. Any thread.
  public var isFailed: Bool { earlyEnd.load(ordering: .acquiring) == .failed }

  /// Whether the gate has let all its frames through: later frames are not kept. False once
  /// `isFailed`. Any thread.
  public var isGateFinished: Bool { earlyEnd.load(ordering: .acquiring) == .gateFinished }

  /// Writes the frames that are in the capture ring now. Returns false when the files are complete
  /// and no commands are waited for.
  public func step() -> Bool {
    if currentPhase == .open { advance(to: .writing) }
    let continues = save()
    switch currentPhase {
    case .writing: advance(to: .open)
    case .complete: advance(to: .done)
    case .waiting: if !continues { advance(to: .doneAfterWaiting) }
    case .open, .done, .doneAfterWaiting: break
    }
    return continues
  }

  /// The need of this recording for the program. A pipe is not waited for, because its reader may
  /// be stopped. Any thread.
  public var workState: BackgroundWorkState {
    switch currentPhase {
    case .open: .unsaved
    case .writing: plan.isStream ? .unsaved : .saving
    case .complete: plan.isStream ? .required : .finishing
    case .waiting: .finishing
    case .done, .doneAfterWaiting: .required
    }
  }

  /// The interval between steps in milliseconds: 50, or 20 if the output is read while it is
  /// written, as from a pipe, if the ring is short, or if the state with its levels is requested.
  /// Each wake-up costs as much as writing the data.
  public var stepMilliseconds: Int {
    let isLooked = plan.measuresLevels && events.isStateWanted
    return plan.isStream || hasShortRing || isLooked ? 20 : 50
  }

  /// Whether everything is saved, and only commands for complete files are, or were, waited for.
  /// Any thread.
  public var isWaitingForOthers: Bool {
    let phase = currentPhase
    return phase == .waiting || phase == .doneAfterWaiting
  }

  // Pairs with the store in `advance`.
  private var currentPhase: Phase { phase.load(ordering: .acquiring) }

  private func advance(to next: Phase) { phase.store(next, ordering: .releasing) }

  private func save() -> Bool {
    // A complete recording may still wait for a command.
    guard !currentPhase.isComplete else { return poll() }
    do throws(FileFailure) {
      // The order matters: after the end is announced, no frames are added to the ring.
      let isLast = input.isFinished || isConcluded.isRaised
      try processQueued(isLast: isLast)
      if pipeline.isOver { earlyEnd.store(.gateFinished, ordering: .releasing) }
      guard isLast else {
        pipeline.poll()
        return true
      }
      try input.finish(&pipeline)
    } catch {
      pipeline.fail(error)
      earlyEnd.store(.failed, ordering: .releasing)
    }
    advance(to: .complete)
    report = pipeline.report
    report.overflowFrames = input.overflowFrames
    return poll()
  }

  /// Ends the recording with the frames that are in the ring now: the audio has ended. If the
  /// recorder is in the mixer of another session, the frames that it captures later are lost. Any
  /// thread.
  public func conclude() { isConcluded.raise() }

  /// Returns whether commands for complete files run or wait.
  private func poll() -> Bool {
    pipeline.poll()
    report.files = pipeline.report.files
    if events.isStateWanted { publishFigures() }
    guard pipeline.isBusy else { return false }
    if currentPhase == .complete { advance(to: .waiting) }
    guard leavesCommands.isRaised else { return true }
    pipeline.leaveCommands()
    return false
  }

  /// Stops waiting for commands: the running one continues by itself, and the others are reported.
  /// Any thread.
  public func leaveCommands() { leavesCommands.raise() }

  private func processQueued(isLast: Bool) throws(FileFailure) {
    while true {
      while let gap = input.takeGap(isLast: isLast) {
        pipeline.noteGap(at: input.position, frames: gap.frames)
        if gap.kind == .overflow {
          let frame = (input.firstFrame ?? 0) + input.position
          events.emit(.overflow(frame: frame, frames: gap.frames))
        }
      }
      // The order matters: commands given from now on apply to later frames. They are read before
      // each piece, since on a slow disk there is more to write each time.
      //
      // Played frames are not waited for if their recorder was not taken.
      let available = input.available(isLast: isLast || !isEchoReferenceTaken.isRaised)
      if let firstFrame = input.firstFrame {
        pipeline.begin(at: input.origin, firstFrame: firstFrame)
        for request in control.take() { pipeline.note(request.command, at: request.frame) }
      }
      let maximum = min(pipeline.maximumInputFrames, available)
      let count = try input.pass(atMost: maximum, to: &pipeline)
      guard count > 0 else { return }
      try refresh(after: count)
    }
  }

  /// Performs the periodic work that is due after `count` more frames.
  private func refresh(after count: Int) throws(FileFailure) {
    schedule.pass(count)
    if schedule.headers.takeDue() {
      try pipeline.refresh(synchronizing: schedule.syncs.takeDue())
    }
    if schedule.states.takeDue(), events.isStateWanted { publish() }
    if schedule.spaceChecks.takeDue() {
      reportSilence()
      let left = space.check(at: pipeline.growingFiles(), events: events)
      // The real disk is not part of virtual time, in which all runs are equal.
      if !plan.isVirtual { events.update { $0.secondsLeft = left } }
    }
  }

  /// Reports once that only silence was kept since the beginning.
  private func reportSilence() {
    guard !isSilenceReported, pipeline.silentFrames >= 2 * plan.sampleRate else { return }
    isSilenceReported = true
    events.emit(.onlySilence)
  }

  private func publish() {
    let (isOpen, isPaused) = (pipeline.isOpen, pipeline.isPaused)
    let path = pipeline.growingFiles().first { $0.plan.path == plan.path }?.file.path
    events.update { state in
      state.path = path
      state.isOpen = isOpen
      state.isPaused = isPaused
    }
    publishFigures()
  }

  /// Publishes the part of the state that still changes when the audio has ended.
  private func publishFigures() {
    let (frames, byteCount, levels) = (pipeline.frames, pipeline.byteCount, pipeline.levels)
    events.update { state in
      state.frames = frames
      state.byteCount = byteCount
      state.levels = levels
    }
  }
}
