import AudioBasics
import AudioClocks
import AudioFiles
import RealtimeAudio
import Synchronization
import VoiceCleaning

/// The disk thread's half of a recording: reads the capture ring, hands its frames to the take, and
/// keeps the files valid at every instant: their headers true four times a second, their contents
/// on the disk as often as the plan says.
public final class RecordingWriter: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it, and the report is read after the last step.
  private var recorder: Recorder?
  private var playedRecorder: Recorder?
  private var feed: RecordingReader
  /// What is played meanwhile, where an echo is to be taken off.
  private var reference: RecordingReader?
  private var take: RecordingPipeline
  private var chunk: SampleBuffer
  private var played: SampleBuffer?
  private var space: SpaceWatch
  private let isVirtual: Bool
  private let isStream: Bool
  private let sampleRate: Int
  private var isSilenceTold = false
  private let saving = Atomic(false)
  /// When headers are made true, what they tell of is put on the disk, levels are told, and the
  /// room on the disk is looked at.
  private var headers: FrameInterval
  private var syncs: FrameInterval
  private var states: FrameInterval
  private var looks: FrameInterval
  private var isOver = false
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

  /// Saves what its recorder takes down as `plan` says: what `gate` lets through, moved by the
  /// fraction of a frame that `shift` says, cleaned by `cleaner`, which hears from a recorder of
  /// `playedChannels` channels what was played; `rawPath` gets what was not cleaned. Rings hold
  /// `ringFrames` frames of a disk that stands still. Throws what making files throws.
  public init(
    _ plan: RecordingPlan, ringFrames: Int, gate: any RecordingGate = WindowGate(PunchWindow()),
    shift: consuming FrameShift? = nil, cleaner: consuming VoiceCleaner? = nil,
    playedChannels: Int = 0, rawPath: String? = nil
  ) throws(FileFailure) {
    let widest = max(plan.channelCount, playedChannels)
    guard SampleBuffer.hasRoom(frameCount: ringFrames, channelCount: widest) else {
      throw FileFailure(
        .invalidRequest,
        "There is no memory for a ring of \(ringFrames / max(1, plan.sampleRate)) seconds.",
        hint: "Ask for less with --ring, or end other programs.")
    }
    let events = RecordingEvents()
    let made = try RecordingPipeline(
      plan, gate: gate, cleaner: cleaner, shift: shift, rawPlan: rawPath.map { plan.raw($0) },
      events: events)
    let recorder = Recorder(
      frameCount: ringFrames, channelCount: plan.channelCount, sampleRate: plan.sampleRate)
    feed = recorder.makeFeed()
    self.recorder = consume recorder
    take = made
    if playedChannels > 0 {
      let recorder = Recorder(
        frameCount: ringFrames, channelCount: playedChannels, sampleRate: plan.sampleRate)
      reference = recorder.makeFeed()
      playedRecorder = consume recorder
      played = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: playedChannels)
    } else {
      reference = nil
      playedRecorder = nil
      played = nil
    }
    chunk = SampleBuffer(frameCount: RecordingPipeline.chunkFrames, channelCount: plan.channelCount)
    space = SpaceWatch(plan)
    headers = FrameInterval(plan.sampleRate / 4)
    // What is written while the disk works is one interval older when its turn comes.
    syncs = FrameInterval(Int(clamping: plan.syncSeconds * Double(plan.sampleRate) / 2))
    // Twice as often as meters are shown.
    states = FrameInterval(plan.sampleRate / 20)
    looks = FrameInterval(plan.sampleRate, isDueAtOnce: true)
    isVirtual = plan.isVirtual
    isStream = plan.isStream
    sampleRate = plan.sampleRate
    self.events = events
  }

  /// The audio thread's half, once.
  public func takeRecorder() -> Recorder? { recorder.take() }

  /// The half that takes down what is played, once; nil where it is not needed.
  public func takePlayedRecorder() -> Recorder? { playedRecorder.take() }

  /// Whether the file can take no more. Any thread.
  public var isFailed: Bool { hasFailed.isRaised }

  /// Whether the gate let through all that it will: what comes is not kept. Any thread.
  public var isTakeOver: Bool { hasEnded.isRaised }

  /// Saves what is in the capture ring now.
  public func step() -> Bool {
    saving.store(!isStream, ordering: .relaxed)
    let goesOn = save()
    // Commands for files that are complete are waited for between two steps as well.
    saving.store(goesOn && isWaiting.isRaised, ordering: .relaxed)
    return goesOn
  }

  /// Whether a step is under way, or commands are waited for. What goes to a pipe is read by a program
  /// who may have gone to sleep, and is never whole.
  public var isSaving: Bool { saving.load(ordering: .relaxed) }

  /// Whether only commands are waited for.
  public var isWaitingForOthers: Bool { isWaitingForCommands }

  private func save() -> Bool {
    // What is complete may still wait for a command.
    guard !isOver else { return poll() }
    do throws(FileFailure) {
      for order in remote.take() { take.note(order.command, at: order.frame) }
      // In this order: what is in the ring after the end was announced is all there will be.
      let isLast = feed.isFinished || isAbandoned.isRaised
      take.begin(at: feed.origin)
      try wind(isLast: isLast)
      if take.isOver { hasEnded.raise() }
      guard isLast else {
        take.poll()
        return true
      }
      try take.finish(&chunk)
    } catch {
      take.fail(error)
      hasFailed.raise()
    }
    isOver = true
    report = take.report
    report.overflowFrames = feed.overflowFrames
    return poll()
  }

  /// Does nothing: the recording ends when the recorder closes its ring.
  public func conclude() {}

  /// What is in the ring now is all.
  public func abandon() { isAbandoned.raise() }

  /// Whether complete files still need attending.
  private func poll() -> Bool {
    take.poll()
    report.files = take.report.files
    guard take.isBusy else { return false }
    isWaiting.raise()
    guard hasLeft.isRaised else { return true }
    take.leave()
    return false
  }

  /// Whether all is saved, and only commands for complete files are waited for. Any thread.
  public var isWaitingForCommands: Bool { isWaiting.isRaised }

  /// Waits for no command any more: the one that runs goes on by itself, the others are told. Any
  /// thread.
  public func leaveCommands() { hasLeft.raise() }

  private func wind(isLast: Bool) throws(FileFailure) {
    while true {
      while let gap = feed.takeGap(isLast: isLast) {
        take.noteGap(at: feed.position, frames: gap.frames)
        if gap.kind == .overflow {
          events.emit(.overflow(frame: feed.position, frames: gap.frames))
        }
      }
      let count = feed.read(
        into: &chunk, frames: min(take.maximumInputFrames, playedFrames(isLast: isLast)))
      guard count > 0 else { return }
      fillPlayed(count)
      try take.process(&chunk, played: played, frames: count)
      try keepSafe(count)
    }
  }

  /// Frames of what was played that are there: what was heard waits for them.
  private func playedFrames(isLast: Bool) -> Int {
    guard reference != nil, !isLast else { return RecordingPipeline.chunkFrames }
    while reference?.takeGap(isLast: false) != nil {}
    return reference?.available ?? 0
  }

  private func fillPlayed(_ frames: Int) {
    guard played != nil else { return }
    var done = 0
    while done < frames {
      while reference?.takeGap(isLast: false) != nil {}
      let count = Self.read(&reference, into: &played, at: done, frames: frames - done)
      guard count > 0 else { break }
      done += count
    }
    played?.clear(from: done, frames: frames - done)
  }

  private static func read(
    _ feed: inout RecordingReader?, into buffer: inout SampleBuffer?, at first: Int, frames: Int
  ) -> Int {
    guard var target = buffer.take() else { return 0 }
    let count = feed?.read(into: &target, at: first, frames: frames) ?? 0
    buffer = consume target
    return count
  }

  /// After `count` frames more.
  private func keepSafe(_ count: Int) throws(FileFailure) {
    headers.pass(count)
    syncs.pass(count)
    states.pass(count)
    looks.pass(count)
    if headers.takeDue() { try take.refresh(synchronizing: syncs.takeDue()) }
    if states.takeDue(), events.isStateWanted { publish() }
    if looks.takeDue() {
      tellOfSilence()
      let left = take.file.flatMap { space.look(at: $0, events: events) }
      // The real disk is no part of virtual time, where every run is the same.
      if !isVirtual { events.update { $0.secondsLeft = left } }
    }
  }

  /// Tells once that nothing was heard from the beginning on.
  private func tellOfSilence() {
    guard !isSilenceTold, take.silentFrames >= 2 * sampleRate else { return }
    isSilenceTold = true
    events.emit(.onlySilence)
  }

  private func publish() {
    let levels = take.levels
    let (isOpen, isPaused) = (take.isOpen, take.isPaused)
    events.update { state in
      state.levels = levels
      state.isOpen = isOpen
      state.isPaused = isPaused
    }
  }
}

/// Watches how long the disk will last at this rate, and warns well ahead. Disk thread.
struct SpaceWatch {
  /// Seconds left at which a warning is due.
  private static let marks = [600.0, 300, 120, 60, 30, 10]

  private let plan: RecordingPlan
  private var marksLeft = marks

  init(_ plan: RecordingPlan) {
    self.plan = plan
  }

  /// Looks at the disk of `file`, the growing one. Returns the seconds left, where they are known.
  mutating func look(at file: RecordedFile, events: RecordingEvents) -> Double? {
    guard !plan.isStream, let bytes = byteCountOfSecond(file),
      let free = DiskSpace.freeByteCount(at: FileName.folder(of: file.path))
    else { return nil }
    let left = Double(free) / bytes
    // Room that was made is room.
    marksLeft = Self.marks.filter { $0 < left || marksLeft.contains($0) }
    if let reached = marksLeft.first(where: { left <= $0 }) {
      // Of several at once the shortest is the one that counts.
      marksLeft.removeAll { $0 >= left || $0 == reached }
      events.emit(.diskLow(seconds: left))
    }
    return left
  }

  /// What a second takes; what an encoder makes of it shows after some.
  private func byteCountOfSecond(_ file: RecordedFile) -> Double? {
    if plan.fileFormat.isPlain {
      return Double(plan.channelCount * plan.sampleFormat.byteCount * plan.sampleRate)
    }
    guard file.frames > 5 * plan.sampleRate, let size = FileRemoval.byteCount(of: file.path)
    else { return nil }
    return Double(max(1, size)) * Double(plan.sampleRate) / Double(file.frames)
  }
}
