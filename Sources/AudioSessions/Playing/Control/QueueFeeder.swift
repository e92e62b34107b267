import AudioBasics
import AudioFiles
import RealtimeAudio
import Synchronization

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
  private let changes = Mutex<[@Sendable (QueueFeeder) -> Void]>([])
  private let waiting = Mutex<[Waiting]>([])
  private let concluded = Latch()
  private var isFinished = false
  private let isPaused: CountView
  private let starvation: CountView
  private var isFed: CountPublisher
  private var enough: CountPublisher
  private let enoughFrames: Int

  /// A decoder whose waits can be ended from any thread.
  private struct Waiting: @unchecked Sendable {
    // @unchecked because only what the protocol allows on any thread is called.
    let decoder: any SoundDecoder
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
    waiting.withLock { $0 = decoders.map(Waiting.init) }
    if concluded.isRaised { interruptWaits() }
  }

  /// Has `change` carried out soon. Any thread. `interrupts` where what plays may wait for a network
  /// and is not wanted any more.
  func ask(interrupts: Bool = false, _ change: @escaping @Sendable (QueueFeeder) -> Void) {
    changes.withLock { $0.append(change) }
    if interrupts { interruptWaits() }
  }

  private func interruptWaits() {
    for one in waiting.withLock({ $0 }) { one.decoder.interrupt() }
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
    let lead = isPaused.value != 0 || heard == 0 || starvation.value != 0 ? 0 : leadFrames
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
      // What was taken out must be passed before more is; but where nothing moves all is at once.
      guard !ring.isReplacing || nextFrame == ring.readFrame else { return }
      guard changes.withLock({ !$0.isEmpty }), queue.isBegun() else { return }
      let change = changes.withLock { $0.removeFirst() }
      for decoder in queue.decoders { decoder.proceed() }
      change(self)
    }
  }

  private func fill() {
    while !concluded.isRaised, changes.withLock({ $0.isEmpty }) {
      guard ring.queuedFrames < targetFrames, ring.room >= chunk.frameCount else { return }
      let decoders = queue.decoders
      if starvation.value != 0, ring.queuedFrames == 0, decoders.contains(where: { !$0.isReady }) {
        queue.isGathering = true
      }
      isFed.publish(queue.isOver ? 0 : 1)
      enough.publish(decoders.contains(where: { !$0.isReady }) ? enoughFrames : 1)
      do throws(FileFailure) {
        let count = try queue.read(into: &chunk, frames: chunk.frameCount)
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
