import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

/// The disk thread's half of a player that is steered while it plays: keeps the ring full from a
/// queue, and carries out what is asked of the queue in between.
final class QueueFeeder: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; what others see is behind a lock.
  let queue: PlayQueue
  private var ring: SampleWriter
  private var chunk: SampleBuffer
  private let targetFrames: Int
  private let leadFrames: Int
  private let endsWithQueue: Bool
  private let requests: FeederRequests
  private let waiting = MutexBox(Waiting(decoders: []))
  private let concluded = AtomicFlag()
  private let phase = MutexBox(Phase.idle(hasBegun: false))
  private var signals: Signals
  /// Whether what comes after the audio thread ran dry was gathered.
  private var hasGathered = true
  private var nonFinite = PublishedValue()
  private let nonFiniteView: PublishedValueView

  /// Decoders whose waits can be ended from any thread.
  private struct Waiting: @unchecked Sendable {
    // @unchecked because only what the protocol allows on any thread is called.
    let decoders: [any SoundDecoder]
  }

  /// The phase of the feeder: between two steps, in one, or over for good.
  private enum Phase {
    case idle(hasBegun: Bool)
    case stepping
    case over
  }

  /// The values that it shares with the audio thread (see `PlayerRemote`).
  struct Signals: ~Copyable {
    let isPaused: PublishedValueView
    let starvation: PublishedValueView
    var isFed: PublishedValue
    var enough: PublishedValue
  }

  /// Feeds `ring`, up to `targetFrames` ahead, and lets what is asked be heard `leadFrames` after
  /// what is heard at that moment.
  init(
    ring: consuming SampleWriter, queue: PlayQueue, requests: FeederRequests, channelCount: Int,
    targetFrames: Int, leadFrames: Int, endsWithQueue: Bool, _ signals: consuming Signals
  ) {
    chunk = PlayFeeder.chunk(for: ring, channelCount: channelCount)
    self.ring = ring
    self.queue = queue
    self.requests = requests
    self.targetFrames = targetFrames
    self.leadFrames = leadFrames
    self.endsWithQueue = endsWithQueue
    self.signals = signals
    nonFiniteView = nonFinite.makeView()
    queue.willRead = { [unowned self] in poll($0) }
  }

  /// Makes waits of `decoders` end where an end is asked for, even if that was a moment ago.
  private func poll(_ decoders: [any SoundDecoder]) {
    waiting.withLock { $0 = Waiting(decoders: decoders) }
    if concluded.isRaised { interruptWaits() }
  }

  /// Ends the waits of what is read now. Any thread.
  func interruptWaits() {
    for decoder in waiting.withLock({ $0 }).decoders { decoder.interrupt() }
  }

  func conclude() {
    concluded.raise()
    interruptWaits()
  }

  /// Has nothing more done. Returns whether its queue is left alone from now on: not where a disk
  /// or a network keeps the thread that reads. Throws `.busy` where nobody has ended its session.
  /// Any thread.
  func retire() throws(DeviceFailure) -> Bool {
    try phase.withLock { (phase) throws(DeviceFailure) in
      var isLeft = true
      switch phase {
      case .over, .idle(hasBegun: false): break
      case .idle: guard concluded.isRaised else { throw Self.isBusy }
      case .stepping:
        guard concluded.isRaised else { throw Self.isBusy }
        isLeft = false
      }
      if isLeft { phase = .over }
      return isLeft
    }
  }

  private static let isBusy = DeviceFailure(
    .busy, "The player still plays in another session.", hint: "End that session first.")

  /// Carries out what was asked, and fills the ring as far as it goes.
  func step() -> Bool {
    let isOver = phase.withLock { phase in
      if case .over = phase { return true }
      phase = .stepping
      return false
    }
    guard !isOver else { return false }
    let goesOn = work()
    phase.withLock { $0 = goesOn ? .idle(hasBegun: true) : .over }
    return goesOn
  }

  private func work() -> Bool {
    if concluded.isRaised {
      ring.finish()
      queue.release()
      return false
    }
    // A caller that asks faster than it can be done must neither starve what is heard nor be in the
    // way of an end: a few changes, and what is to be heard, in turns.
    for _ in 0..<4 {
      applyChanges(atMost: 32)
      fill()
      guard hasChanges, !concluded.isRaised else { break }
    }
    queue.release()
    // What was read last is not kept.
    if queue.decoders.isEmpty { poll([]) }
    return true
  }

  /// As that of the queue. Any thread.
  var nonFiniteCount: Int { nonFiniteView.value }

  /// A disk or a decoder may keep it for ever.
  var isDispensable: Bool { true }

  private var hasChanges: Bool { requests.changes.withLock { !$0.isEmpty } }

  var needsTime: Bool {
    // Virtual time takes a thousand frames at a time.
    queue.isWaiting && signals.isPaused.value == 0 && ring.queuedFrames < leadFrames + 1024
  }

  /// Where something else can be heard: it is spliced in at the ring's frame `splice`, in place of
  /// what the queue delivered from `frame` on. Where nothing moves, at once.
  private var splicePoint: (splice: Int, frame: Int) {
    // What already takes something's place, and is not heard yet, gives way itself.
    if let replacement = ring.replacement { return (replacement.skipStart, replacement.skipEnd) }
    let frame = min(ring.readFrame + (isStill ? 0 : leadFrames), ring.frameCount)
    return (frame, frame)
  }

  /// Whether the last change becomes audible too soon for another one to replace it in time, as a
  /// new converter takes some milliseconds to make. The next change then waits until the last one
  /// is audible.
  private var isChangeLate: Bool {
    guard let replacement = ring.replacement, !isStill else { return false }
    return replacement.skipStart - ring.readFrame < leadFrames / 2
  }

  /// Whether playback stands still: paused, not begun or starved.
  private var isStill: Bool {
    signals.isPaused.value != 0 || ring.readFrame == 0 || signals.starvation.value != 0
  }

  private func applyChanges(atMost count: Int) {
    var rest = count
    while rest > 0, !concluded.isRaised, hasChanges, !isChangeLate,
      queue.beginFirst() || dropEdits()
    {
      rest -= 1
      let point = splicePoint
      queue.spliceFrame = point.splice
      guard applyNext(at: point.frame) else { continue }
      ring.replace(from: point.splice)
      ring.resume()
    }
  }

  /// Removes the edits before the first skip or reset: they were asked of a source that is still
  /// being opened and will not be played. False, and nothing is removed, if there is neither.
  private func dropEdits() -> Bool {
    requests.changes.withLock { changes in
      let work = changes.firstIndex { if case .work = $0 { true } else { false } }
      if let work { changes.removeFirst(work) }
      return work != nil
    }
  }

  /// Whether something else is to be heard from `frame` of the queue on.
  private func applyNext(at frame: Int) -> Bool {
    // In one go: where a disk keeps the feeder of an earlier session, that one takes changes as
    // well.
    let (edits, work) = requests.changes.withLock { changes in
      // Under the same lock: no change that is taken leaves its interruption behind. What was
      // interrupted need not be what plays now.
      for decoder in waiting.withLock({ $0 }).decoders + queue.decoders { decoder.proceed() }
      return changes.takeNext()
    }
    if let work { return work(queue, frame) }
    guard !edits.isEmpty else { return false }
    do throws(FileFailure) {
      return try queue.change(at: frame) { settings, place, source in
        for edit in edits { edit(&settings, &place, source) }
      }
    } catch {
      queue.published.withLock { $0.refusals.append(error) }
      return false
    }
  }

  /// Has the queue gather some where the network was too slow: once each time the audio thread runs
  /// dry, though a read that waited may have put a few frames into the ring since.
  private func gather(isReady: Bool) {
    let isDry = signals.starvation.value != 0
    if !isDry { hasGathered = false }
    if isDry, !isReady, !hasGathered || ring.queuedFrames == 0 { queue.isGathering = true }
    // What is gathered is read before the audio thread knows of it.
    if queue.isGathering { hasGathered = true }
  }

  private func fill() {
    var isFirst = true
    // What went wrong is told between two turns: of a list of a hundred thousand it would fill
    // memory.
    var rest = PlayQueue.mostFailures
    while !concluded.isRaised, isFirst || !hasChanges, rest > 0 {
      isFirst = false
      // What may have to give way before it is heard must leave room for what takes its place.
      let target = ring.replacement == nil ? targetFrames : targetFrames / 8
      guard ring.queuedFrames < target, ring.room >= chunk.frameCount else { return }
      let isReady = queue.decoders.allSatisfy { $0.isReady(prebuffer: queue.prebufferSeconds) }
      gather(isReady: isReady || queue.isElsewhere)
      signals.isFed.publish(queue.isOver ? 0 : 1)
      // What is left in the ring is heard with what is gathered, not before it. Nothing is read
      // meanwhile, so that this is looked at again.
      signals.enough.publish(isReady ? 1 : queue.isGathering ? .max : targetFrames / 4)
      do throws(FileFailure) {
        let count = try queue.read(into: &chunk, frames: chunk.frameCount)
        nonFinite.publish(queue.nonFiniteCount)
        if count > 0, let tap = requests.tap.withLock({ $0 }) {
          tap.process(&chunk, frames: count, at: ring.frameCount)
        }
        _ = ring.write(chunk, frames: count)
        guard count == 0 else { continue }
      } catch {
        // The queue keeps what went wrong, and goes on.
        rest -= 1
        continue
      }
      if queue.isOver {
        signals.isFed.publish(0)
        if endsWithQueue { ring.finish() }
      }
      return
    }
  }
}

/// A request for a change of a player's queue, carried out on the thread that feeds.
enum PlayerChange: Sendable {
  typealias Edit = @Sendable (inout TrackSettings, inout Double, any QueueSource) -> Void
  typealias Work = @Sendable (PlayQueue, Int) -> Bool

  /// Has what is heard go on differently: alters its settings and its place, a boundary of its
  /// file.
  case edit(Edit)
  /// Anything else. Given the frame of the queue from which on something else can be heard; answers
  /// whether it is.
  case work(Work)
}

extension [PlayerChange] {
  /// Takes out what is to be done next: all edits up to the first work, since a converter is made
  /// once for them, or that work; neither where there is nothing.
  fileprivate mutating func takeNext() -> (edits: [PlayerChange.Edit], work: PlayerChange.Work?) {
    if case .work(let work)? = first {
      removeFirst()
      return ([], work)
    }
    var edits: [PlayerChange.Edit] = []
    while case .edit(let edit)? = first {
      edits.append(edit)
      removeFirst()
    }
    return (edits, nil)
  }
}

/// The requests to the thread that feeds. Those that were not carried out yet go on to the next
/// session.
final class FeederRequests: Sendable {
  let changes = MutexBox<[PlayerChange]>([])
  let tap = MutexBox<(any PlayerTap)?>(nil)
}
