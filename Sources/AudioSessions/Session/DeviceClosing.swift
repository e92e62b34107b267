import AudioDevices
import RealtimeAudio

/// Stops and closes a unit's device on a thread of its own: a driver may hang there, and whoever
/// waits must not.
final class DeviceClosing<Device: DuplexDevice & ~Copyable, Desk: SessionDesk & ~Copyable> {
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from the thread that made it to the one that runs it.
    var unit: DuplexUnit<Device, Desk>?
    let draining: Bool
    let isClosed: Latch

    mutating func run() {
      unit?.stop(draining: draining)
      // Here, where the device is closed with it.
      unit = nil
      isClosed.raise()
    }
  }

  private var thread: RealtimeThread<Work>?
  private let isClosed = Latch()
  private var deadline: UInt64

  /// Begins with it. `isUrgent` where a person has asked for the end.
  init(_ unit: consuming DuplexUnit<Device, Desk>, draining: Bool, isUrgent: Bool) {
    let configuration = unit.configuration
    let queued = configuration.playback.map { Double($0.bufferFrames) / Double($0.sampleRate) } ?? 0
    // What is queued is heard first, a sound server's own share as well.
    let seconds = draining && configuration.capture == nil ? 3 + 2 * queued : 2
    deadline = HostClock.nanoseconds &+ UInt64(clamping: seconds * 1e9)
    // Where no thread can be had it is done here and now.
    thread = try? RealtimeThread(
      name: "duplex-close", priority: .normal,
      Work(unit: unit, draining: draining, isClosed: isClosed))
    if isUrgent { hurry() }
  }

  /// A person wants the end: a fifth of a second is left.
  func hurry() {
    deadline = min(deadline, HostClock.nanoseconds &+ 200_000_000)
  }

  /// Whether it is closed, or was waited for long enough.
  var isOver: Bool { thread == nil || isClosed.isRaised || HostClock.nanoseconds > deadline }

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

/// Watches whether the audio thread comes back from what it asks of a device.
struct AnswerWatch {
  private var turns = -1
  private var since = HostClock.nanoseconds
  private var isEnding = false
  private let limit: UInt64

  /// A device that is waited for while it is away may take longer to be opened again.
  init(reconnects: Bool) {
    limit = reconnects ? 20_000_000_000 : 6_000_000_000
  }

  /// Whether the thread, which has turned so often, still can be waited for: a fifth of a second
  /// where an end is wanted.
  mutating func isInTime(_ turns: Int, isEnding: Bool) -> Bool {
    let now = HostClock.nanoseconds
    if turns != self.turns || isEnding != self.isEnding { since = now }
    self.turns = turns
    self.isEnding = isEnding
    return now &- since < (isEnding ? 200_000_000 : limit)
  }
}

extension StopReason {
  /// Whether a person has asked for it.
  var isOfTheUser: Bool {
    switch self {
    case .signal, .key: true
    case .duration, .end, .device, .disk: false
    }
  }
}
