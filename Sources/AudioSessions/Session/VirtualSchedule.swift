import AudioDevices
import RealtimeAudio

/// The steps of the background work of a session in virtual time, and the calls of its watcher, by
/// the frames of the unit.
struct VirtualSchedule {
  /// The work that is not done.
  private var busy: [any BackgroundWork]
  private let stepFrames: Int
  private let watchFrames: Int
  private var nextStep = 0
  private var nextWatch: Int

  /// Creates a schedule in which the first step of `background` is due at once.
  init(_ configuration: DuplexConfiguration, _ background: [any BackgroundWork]) {
    busy = background
    // Often enough for the shortest ring buffer (`RecordingPlan.unlimitedRingFrames`).
    stepFrames = max(RecordingPlan.virtualStepFrames, configuration.periodFrames)
    watchFrames = max(stepFrames, configuration.sampleRate / 10)
    nextWatch = watchFrames
  }

  /// Whether virtual time must not advance, because some work waits for a network in real time.
  @inline(__always)
  var isTimeHeld: Bool { busy.contains(where: \.holdsVirtualTime) }

  /// Whether the watcher must be called before the next cycle.
  var isWatchDueAtOnce: Bool { nextWatch == 0 }

  /// Steps all work if that is due at `frame`.
  @inline(__always)
  mutating func step(at frame: Int) {
    guard frame >= nextStep else { return }
    step()
    nextStep = frame + stepFrames
  }

  /// Steps all work. If some of it has ended, it may have been stopped by request while it waited
  /// for a network: the watcher, which returns that request, is then called at once.
  mutating func step() {
    if stepAll() { nextWatch = 0 }
  }

  /// Steps all work while the device is away. The watcher is called after each such step.
  mutating func stepInAbsence() { _ = stepAll() }

  /// Returns whether the watcher must be called at `frame`, once.
  @inline(__always)
  mutating func takeWatch(at frame: Int) -> Bool {
    guard frame >= nextWatch else { return false }
    nextWatch = frame + watchFrames
    return true
  }

  /// Completes all work. Calls `watch` while some of it waits for something that has no virtual
  /// time: a command or a disk.
  func finish(watch: () -> Void) {
    for work in busy {
      work.conclude()
      var steps = 0
      while work.step() {
        steps += 1
        guard steps > 16 else { continue }
        watch()
        HostClock.pause(milliseconds: 2)
      }
    }
  }

  /// Returns whether some work has ended.
  @inline(__always)
  private mutating func stepAll() -> Bool {
    let count = busy.count
    busy.removeAll { !$0.step() }
    return busy.count < count
  }
}
