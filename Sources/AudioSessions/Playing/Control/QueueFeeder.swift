import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

/// The disk thread's part of a player that is controlled during playback: it keeps the ring buffer
/// full from a queue, and executes the requests for changes of the queue in between.
final class QueueFeeder: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; a lock protects what others read.
  let queue: PlayQueue
  private var ring: SampleWriter
  private var chunk: SampleBuffer
  private let targetFrames: Int
  private let leadFrames: Int
  private let endsWithQueue: Bool
  private let requests: FeederRequests
  private let waiting = MutexBox(InterruptibleDecoders(decoders: []))
  private let concluded = AtomicFlag()
  private let phase = MutexBox(Phase.idle(hasBegun: false))
  private var signals: Signals
  /// Whether frames were buffered after the last time the audio thread ran out of frames.
  private var hasPrebuffered = true
  private var nonFinite = PublishedValue()
  private let nonFiniteView: PublishedValueView

  /// The decoders whose waits can be ended from any thread.
  private struct InterruptibleDecoders: @unchecked Sendable {
    // @unchecked because only functions that the protocol allows on any thread are called.
    let decoders: [any SoundDecoder]
  }

  /// The phase of the feeder: between two steps, in a step, or permanently over.
  private enum Phase {
    case idle(hasBegun: Bool)
    case stepping
    case over
  }

  /// The values that the feeder shares with the audio thread (see `PlayerRequests`).
  struct Signals: ~Copyable {
    let isPaused: PublishedFlagView
    let starvation: PublishedFlagView
    var isFed: PublishedFlag
    /// The number of frames that must be queued before a starved player continues.
    var prebufferTarget: PublishedValue
  }

  /// Values of `prebufferTarget`.
  private enum PrebufferTarget {
    /// The player continues with the first frame: the network is fast enough.
    static let firstFrame = 1
    /// The player does not continue: the queue itself buffers frames that are not in the ring
    /// buffer yet.
    static let unreachable = Int.max
  }

  /// Creates a feeder of `ring`, up to `targetFrames` ahead. A requested change is played
  /// `leadFrames` after the frame that is played at that moment.
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

  /// Publishes `decoders` as those that may wait, and ends their waits if an end, or a change that
  /// interrupts them, was requested before: it interrupted other decoders.
  private func poll(_ decoders: [any SoundDecoder]) {
    waiting.withLock { $0 = InterruptibleDecoders(decoders: decoders) }
    let isUnneeded = requests.changes.withLock { $0.contains(where: \.interrupts) }
    if isUnneeded || concluded.isRaised { interruptWaits() }
  }

  /// Ends the waits of the current decoders. Any thread.
  func interruptWaits() {
    for decoder in waiting.withLock({ $0 }).decoders { decoder.interrupt() }
  }

  func conclude() {
    concluded.raise()
    interruptWaits()
  }

  /// Ends all further work. Returns whether the queue is no longer used: false if a disk or a
  /// network blocks the thread that reads. Throws `.busy` if the session was not ended. Any thread.
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

  /// Executes the requests, and fills the ring buffer as far as possible.
  func step() -> Bool {
    let isOver = phase.withLock { phase in
      if case .over = phase { return true }
      phase = .stepping
      return false
    }
    guard !isOver else { return false }
    let continues = work()
    phase.withLock { $0 = continues ? .idle(hasBegun: true) : .over }
    return continues
  }

  private func work() -> Bool {
    if concluded.isRaised {
      ring.finish()
      queue.release()
      return false
    }
    // A caller that sends requests faster than they can be executed must neither starve the
    // playback nor delay an end: a few changes and the filling alternate.
    for _ in 0..<4 {
      applyChanges(atMost: 32)
      fill()
      guard hasChanges, !concluded.isRaised else { break }
    }
    queue.release()
    // The last decoders are not kept.
    if queue.decoders.isEmpty { poll([]) }
    return true
  }

  /// The count of the queue. Any thread.
  var nonFiniteCount: Int { nonFiniteView.value }

  /// Dispensable, since a disk or a decoder may block it forever.
  var workState: BackgroundWorkState { .dispensable }

  private var hasChanges: Bool { requests.changes.withLock { !$0.isEmpty } }

  var holdsVirtualTime: Bool {
    // Virtual time reads 1024 frames at a time.
    queue.isWaiting && !signals.isPaused.isSet && ring.queuedFrames < leadFrames + 1024
  }

  /// The point at which other frames can be played: they are spliced in at the ring buffer's frame
  /// `splice`, in place of the frames that the queue delivered from `frame` on. At once if the
  /// playback does not advance.
  private var splicePoint: (splice: Int, frame: Int) {
    // A replacement that is not played yet is replaced itself.
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

  /// Whether the playback does not advance: it is paused, has not begun or is starved.
  private var isStill: Bool {
    signals.isPaused.isSet || ring.readFrame == 0 || signals.starvation.isSet
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

  /// Removes the edits before the first skip or reset: they were requested for a source that is
  /// still being opened and will not be played. Returns false, and removes nothing, if there is
  /// neither.
  private func dropEdits() -> Bool {
    requests.changes.withLock { changes in
      let work = changes.firstIndex { if case .work = $0 { true } else { false } }
      if let work { changes.removeFirst(work) }
      return work != nil
    }
  }

  /// Executes the next change. Returns whether other frames are played from `frame` of the queue
  /// on.
  private func applyNext(at frame: Int) -> Bool {
    // The changes are removed under one lock: if a disk blocks the feeder of an earlier session,
    // that feeder takes changes as well.
    let (edits, work) = requests.changes.withLock { changes in
      // This is done under the same lock, so that no change is taken without the end of its
      // interruption. The interrupted decoders need not be those of the current source.
      for decoder in waiting.withLock({ $0 }).decoders + queue.decoders { decoder.proceed() }
      return changes.takeNext()
    }
    if let work { return work(queue, frame) }
    guard !edits.isEmpty else { return false }
    var refusals: [FileFailure] = []
    var isChanged = false
    do throws(FileFailure) {
      isChanged = try queue.change(at: frame) { settings, position, source throws(FileFailure) in
        for edit in edits {
          do throws(FileFailure) {
            try edit(&settings, &position, source)
          } catch {
            refusals.append(error)
          }
        }
        // The source continues as before if nothing is left of the change.
        if refusals.count == edits.count, let last = refusals.popLast() { throw last }
      }
    } catch {
      refusals.append(error)
    }
    if !refusals.isEmpty { queue.published.withLock { $0.refusals += refusals } }
    return isChanged
  }

  /// Makes the queue buffer some frames if the network was too slow: once each time the audio
  /// thread runs out of frames, even if a read that waited has put a few frames into the ring
  /// buffer since.
  private func updatePrebuffering(isReady: Bool) {
    let isDry = signals.starvation.isSet
    if !isDry { hasPrebuffered = false }
    if isDry, !isReady, !hasPrebuffered || ring.queuedFrames == 0 {
      queue.prebuffering.isActive = true
    }
    // The buffered frames are read before the audio thread is notified.
    if queue.prebuffering.isActive { hasPrebuffered = true }
  }

  private func fill() {
    var isFirst = true
    // Failures are reported between two turns: those of a list of 100,000 items would fill the
    // memory.
    var rest = PlayQueue.maximumFailures
    while !concluded.isRaised, isFirst || !hasChanges, rest > 0 {
      isFirst = false
      // Frames that may be replaced before they are played must leave room for their replacement.
      let target = ring.replacement == nil ? targetFrames : targetFrames / 8
      guard ring.queuedFrames < target, ring.room >= chunk.frameCount else { return }
      let isReady = queue.decoders.allSatisfy { $0.isReady(prebuffer: queue.prebuffering.seconds) }
      updatePrebuffering(isReady: isReady || queue.isElsewhere)
      signals.isFed.publish(!queue.isOver)
      // The frames left in the ring buffer are played together with the buffered ones, not before
      // them. Nothing is read until then, so that this check is repeated.
      signals.prebufferTarget.publish(
        isReady
          ? PrebufferTarget.firstFrame
          : queue.prebuffering.isActive ? PrebufferTarget.unreachable : targetFrames / 4)
      do throws(FileFailure) {
        let count = try queue.read(into: &chunk, frames: chunk.frameCount)
        nonFinite.publish(queue.nonFiniteCount)
        if count > 0, let tap = requests.tap.withLock({ $0 }) {
          tap.process(&chunk, frames: count, at: ring.frameCount)
        }
        _ = ring.write(chunk, frames: count)
        guard count == 0 else { continue }
      } catch {
        // The queue stores the failure and continues.
        rest -= 1
        continue
      }
      if queue.isOver {
        signals.isFed.publish(false)
        if endsWithQueue { ring.finish() }
      }
      return
    }
  }
}

/// A request for a change of a player's queue, executed on the thread that feeds.
enum PlayerChange: Sendable {
  typealias Edit =
    @Sendable (inout TrackSettings, inout Double, any QueueSource) throws(FileFailure) -> Void
  typealias Work = @Sendable (PlayQueue, Int) -> Bool

  /// Changes the playback of the current track: modifies its settings and its position, a boundary
  /// of its file. Throws, without any change, if the source does not support it.
  case edit(Edit, interrupts: Bool)
  /// Any other change. Receives the frame of the queue from which other frames can be played, and
  /// returns whether they are.
  case work(Work)

  /// Whether a wait of the current source for a network is no longer needed.
  var interrupts: Bool {
    switch self {
    case .edit(_, let interrupts): interrupts
    case .work: true
    }
  }
}

extension [PlayerChange] {
  /// Removes and returns the next changes: all edits up to the first work, since one converter is
  /// made for all of them, or that work; neither if there are no changes.
  fileprivate mutating func takeNext() -> (edits: [PlayerChange.Edit], work: PlayerChange.Work?) {
    if case .work(let work)? = first {
      removeFirst()
      return ([], work)
    }
    var edits: [PlayerChange.Edit] = []
    while case .edit(let edit, _)? = first {
      edits.append(edit)
      removeFirst()
    }
    return (edits, nil)
  }
}

/// The requests to the thread that feeds. Those not executed yet are left to the next session.
final class FeederRequests: Sendable {
  let changes = MutexBox<[PlayerChange]>([])
  let tap = MutexBox<(any PlayerTap)?>(nil)
}
