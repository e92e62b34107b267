import AudioDevices
import RealtimeAudio

/// Stops and closes a unit's device on a thread of its own: a driver may hang there, and the thread
/// that waits must not.
final class DeviceClosing<Callbacks: SessionCallbacks & ~Copyable> {
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from the thread that made it to the one that runs it.
    var unit: DuplexUnit<Callbacks>?
    let draining: Bool
    let isClosed: AtomicFlag

    mutating func run() {
      unit?.stop(draining: draining)
      // Here, where the device is closed with it.
      unit = nil
      isClosed.raise()
    }
  }

  private var thread: RealtimeThread<Work>?
  private let isClosed = AtomicFlag()
  private var timeout: EndTimeout

  /// Begins with it. `isUrgent` where a person has asked for the end.
  init(_ unit: consuming DuplexUnit<Callbacks>, draining: Bool, isUrgent: Bool) {
    let configuration = unit.configuration
    let queued = configuration.playback.map { Double($0.bufferFrames) / Double($0.sampleRate) } ?? 0
    // What is queued is played first, a sound server's own share as well.
    let isPlayed = draining && configuration.capture == nil
    timeout =
      isPlayed
      ? EndTimeout(seconds: 3 + 2 * queued, urgentSeconds: 0.2 + queued, isUrgent: isUrgent)
      : EndTimeout(urgentSeconds: 0.2, isUrgent: isUrgent)
    // Where no thread can be had the device is closed here and now, and what is queued is not played.
    thread = try? RealtimeThread(
      name: "duplex-close", priority: .normal,
      Work(unit: unit, draining: draining, isClosed: isClosed))
  }

  /// A person wants the end: a fifth of a second is left, besides what is queued.
  func hurry() { timeout.hurry() }

  /// Whether it is closed, or was waited for long enough.
  var isOver: Bool { thread == nil || isClosed.isRaised || timeout.isOver }

  /// Lets go of it; false where it is not closed, and left to the system.
  func end() -> Bool {
    guard let thread = thread.take() else { return true }
    guard isClosed.isRaised else {
      thread.abandon()
      return false
    }
    _ = thread.join()
    return true
  }
}

/// How long something is waited for at the end.
struct EndTimeout {
  private var deadline: UInt64
  private let urgentNanoseconds: UInt64

  /// `seconds`, and `urgentSeconds` where a person has asked for the end.
  init(seconds: Double = 2, urgentSeconds: Double = 0.125, isUrgent: Bool) {
    deadline = HostClock.nanoseconds &+ UInt64(clamping: seconds * 1e9)
    urgentNanoseconds = UInt64(clamping: urgentSeconds * 1e9)
    if isUrgent { hurry() }
  }

  /// A person wants the end.
  mutating func hurry() {
    deadline = min(deadline, HostClock.nanoseconds &+ urgentNanoseconds)
  }

  /// Whether it was waited for long enough.
  var isOver: Bool { HostClock.nanoseconds > deadline }
}

/// Watches whether the audio thread comes back from what it asks of a device.
struct AnswerWatch {
  private var turns = -1
  private var since = HostClock.nanoseconds
  private var isEnding = false
  /// Seconds for which a device may not answer.
  let limitSeconds: Int

  /// A device that is waited for while it is away may take longer to be opened again.
  init(reconnects: Bool) {
    limitSeconds = reconnects ? 20 : 6
  }

  /// Whether the thread, which has begun that number of `turns`, began another within the limit: within a fifth of a
  /// second where an end is wanted.
  mutating func isInTime(_ turns: Int, isEnding: Bool) -> Bool {
    let now = HostClock.nanoseconds
    if turns != self.turns || isEnding != self.isEnding { since = now }
    self.turns = turns
    self.isEnding = isEnding
    return now &- since < (isEnding ? 200_000_000 : UInt64(limitSeconds) * 1_000_000_000)
  }
}

/// Keeps a watcher that returns at once from being called without a rest.
struct WatchPace {
  private var began: UInt64 = 0

  /// The watcher is about to be called.
  mutating func begin() { began = HostClock.nanoseconds }

  /// It has returned: rests until ten milliseconds after it was called, or it `isOver`.
  func end(unless isOver: () -> Bool) {
    while HostClock.nanoseconds &- began < 10_000_000, !isOver() {
      HostClock.pause(milliseconds: 1)
    }
  }
}
