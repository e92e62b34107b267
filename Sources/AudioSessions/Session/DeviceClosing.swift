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
    // Where no thread can be had the device is closed here and now, and what is queued is not
    // played.
    thread = try? RealtimeThread(
      name: "duplex-close", priority: .normal,
      Work(unit: unit, draining: draining, isClosed: isClosed))
  }

  /// A person wants the end: a fifth of a second is left, besides what is queued.
  func shorten() { timeout.shorten() }

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

/// The deadline of a wait at the end.
struct EndTimeout {
  private var deadline: UInt64
  private let urgentNanoseconds: UInt64

  /// `seconds`, and `urgentSeconds` where a person has asked for the end.
  init(seconds: Double = 2, urgentSeconds: Double = 0.125, isUrgent: Bool) {
    deadline = HostClock.nanoseconds &+ UInt64(clamping: seconds * 1e9)
    urgentNanoseconds = UInt64(clamping: urgentSeconds * 1e9)
    if isUrgent { shorten() }
  }

  /// A person wants the end.
  mutating func shorten() {
    deadline = min(deadline, HostClock.nanoseconds &+ urgentNanoseconds)
  }

  /// Whether it was waited for long enough.
  var isOver: Bool { HostClock.nanoseconds > deadline }
}
