import AudioBasics
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
  private let changes = Guarded<[@Sendable (QueueFeeder) -> Void]>([])
  private let waiting = Guarded(Waiting(decoders: []))
  private let tap = Guarded<(any PlayerTap)?>(nil)
  private let concluded = Latch()
  private var isFinished = false
  private let isPaused: CountView
  private let starvation: CountView
  private var isFed: CountPublisher
  private var enough: CountPublisher
  private let enoughFrames: Int

  /// Decoders whose waits can be ended from any thread.
  private struct Waiting: @unchecked Sendable {
    // @unchecked because only what the protocol allows on any thread is called.
    let decoders: [any SoundDecoder]
  }

  /// What it needs of its surroundings.
  struct Surroundings: ~Copyable {
    let isPaused: CountView
    let starvation: CountView
    var isFed: CountPublisher
    var enough: CountPublisher
  }

  /// Feeds `ring`, up to `targetFrames` ahead, and lets what is asked be heard `leadFrames` after what
  /// is heard at that moment.
  init(
    ring: consuming SampleWriter, queue: PlayQueue, channelCount: Int, targetFrames: Int,
    leadFrames: Int, endsWithQueue: Bool, _ surroundings: consuming Surroundings
  ) {
    self.ring = ring
    self.queue = queue
    self.targetFrames = targetFrames
    self.leadFrames = leadFrames
    self.endsWithQueue = endsWithQueue
    enoughFrames = targetFrames / 4
    isPaused = surroundings.isPaused
    starvation = surroundings.starvation
    isFed = surroundings.isFed
    enough = surroundings.enough
    chunk = SampleBuffer(frameCount: 1024, channelCount: channelCount)
    queue.willRead = { [unowned self] in attend($0) }
  }

  /// Makes waits of `decoders` end where an end is asked for, even if that was a moment ago.
  private func attend(_ decoders: [any SoundDecoder]) {
    waiting.withLock { $0 = Waiting(decoders: decoders) }
    if concluded.isRaised { interruptWaits() }
  }

  /// Has `change` carried out soon. Any thread. `interrupts` where what plays may wait for a network
  /// and is not wanted any more.
  func ask(interrupts: Bool = false, _ change: @escaping @Sendable (QueueFeeder) -> Void) {
    changes.withLock { $0.append(change) }
    if interrupts { interruptWaits() }
  }

  /// Lets `tap` have what is decoded from now on. Any thread.
  func insert(_ tap: (any PlayerTap)?) { self.tap.withLock { $0 = tap } }

  private func interruptWaits() {
    for decoder in waiting.withLock({ $0 }).decoders { decoder.interrupt() }
  }

  func conclude() {
    concluded.raise()
    interruptWaits()
  }

  /// Carries out what was asked, and fills the ring as far as it goes.
  func step() -> Bool {
    if concluded.isRaised {
      finish()
      queue.release()
      return false
    }
    carryOutChanges()
    fill()
    queue.release()
    return true
  }

  var needsTime: Bool {
    queue.isWaiting && isPaused.value == 0 && ring.queuedFrames == 0
  }

  /// From which frame of the ring on something else can be heard: where nothing moves, at once.
  var nextFrame: Int {
    let heard = ring.readFrame
    let isStill = isPaused.value != 0 || heard == 0 || starvation.value != 0
    // Who asks faster than can be heard does not wait for each to be heard.
    let lead = isStill || changes.withLock({ $0.count > 4 }) ? 0 : leadFrames
    return min(heard + lead, ring.frameCount)
  }

  /// The frame of the ring that is heard now, or at most a period later.
  var heardFrame: Int { ring.readFrame }

  /// What is in the ring from `frame` on is not to be heard.
  func replace(from frame: Int) {
    ring.replace(from: frame)
    if isFinished {
      isFinished = false
      ring.resume()
    }
  }

  private func carryOutChanges() {
    while true {
      guard canChange, changes.withLock({ !$0.isEmpty }), queue.isBegun() else { return }
      let change = changes.withLock { $0.removeFirst() }
      for decoder in queue.decoders { decoder.proceed() }
      change(self)
    }
  }

  /// What was taken out must be passed before more is; but where nothing moves all is at once.
  private var canChange: Bool { !ring.isReplacing || nextFrame == ring.readFrame }

  private func fill() {
    while !concluded.isRaised, !canChange || changes.withLock({ $0.isEmpty }) {
      guard ring.queuedFrames < targetFrames, ring.room >= chunk.frameCount else { return }
      let decoders = queue.decoders
      let isReady = decoders.allSatisfy(\.isReady)
      if starvation.value != 0, ring.queuedFrames == 0, !isReady { queue.isGathering = true }
      isFed.publish(queue.isOver ? 0 : 1)
      enough.publish(isReady ? 1 : enoughFrames)
      do throws(FileFailure) {
        let count = try queue.read(into: &chunk, frames: chunk.frameCount)
        if count > 0, let tap = tap.withLock({ $0 }) {
          tap.process(&chunk, frames: count, at: ring.frameCount)
        }
        _ = ring.write(chunk, frames: count)
        guard count == 0 else { continue }
      } catch {
        // The queue keeps what went wrong, and goes on.
        continue
      }
      if queue.isOver {
        isFed.publish(0)
        if endsWithQueue { finish() }
      }
      return
    }
  }

  private func finish() {
    guard !isFinished else { return }
    isFinished = true
    ring.finish()
  }
}
