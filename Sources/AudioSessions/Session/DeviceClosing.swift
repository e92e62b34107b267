import AudioDevices
import RealtimeAudio

/// The stopping and closing of a unit's device on a separate thread: a driver may hang there, and
/// must not block the thread that waits.
final class DeviceClosing<Callbacks: SessionCallbacks & ~Copyable> {
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because the thread that creates it passes it to the one that runs it.
    var unit: DuplexUnit<Callbacks>?
    let draining: Bool
    let isClosed: AtomicFlag

    mutating func run() {
      unit?.stop(draining: draining)
      // Frees the unit on this thread, since that closes the device.
      unit = nil
      isClosed.raise()
    }
  }

  private var thread: RealtimeThread<Work>?
  private let isClosed = AtomicFlag()
  private var timeout: EndTimeout

  /// Starts to close the device. `isUrgent` means that the user requested the end.
  init(_ unit: consuming DuplexUnit<Callbacks>, draining: Bool, isUrgent: Bool) {
    timeout = EndTimeout(closing: unit.configuration, draining: draining, isUrgent: isUrgent)
    // If no thread can be created, the device is closed at once on this thread, and the queued
    // frames are not played.
    thread = try? RealtimeThread(
      name: "duplex-close", priority: .normal,
      Work(unit: unit, draining: draining, isClosed: isClosed))
  }

  /// Shortens the timeout at the user's request: to 200 ms plus the duration of the queued frames.
  func shorten() { timeout.shorten() }

  /// Whether the device is closed or the timeout has passed.
  var isOver: Bool { thread == nil || isClosed.isRaised || timeout.isOver }

  /// Releases the thread. Returns false if the device is not closed, and is left to the system.
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

/// The deadline of a wait at the end of a session.
struct EndTimeout {
  /// The end of the wait, in nanoseconds of the host clock.
  private(set) var deadline: UInt64
  private let urgentNanoseconds: UInt64

  /// Creates a deadline in `seconds`, or in `urgentSeconds` if the user requested the end.
  init(
    seconds: Double = 2, urgentSeconds: Double = 0.125, isUrgent: Bool,
    at now: UInt64 = HostClock.nanoseconds
  ) {
    deadline = now &+ UInt64(clamping: seconds * 1e9)
    urgentNanoseconds = UInt64(clamping: urgentSeconds * 1e9)
    if isUrgent { shorten(at: now) }
  }

  /// Creates the deadline of a device that is closed. The queued frames of a device without input
  /// are played first if it is `draining`. A sound server takes part in the closing, and may be
  /// late on a busy machine: at the user's first request it has a second.
  init(
    closing device: DuplexConfiguration, draining: Bool, isUrgent: Bool,
    at now: UInt64 = HostClock.nanoseconds
  ) {
    let queued = device.playback.map { Double($0.bufferFrames) / Double($0.sampleRate) } ?? 0
    if draining && device.capture == nil {
      self.init(seconds: 3 + 2 * queued, urgentSeconds: 0.2 + queued, isUrgent: isUrgent, at: now)
    } else if isUrgent && (device.capture?.isServer == true || device.playback?.isServer == true) {
      self.init(seconds: 1, urgentSeconds: 0.2, isUrgent: false, at: now)
    } else {
      self.init(urgentSeconds: 0.2, isUrgent: isUrgent, at: now)
    }
  }

  /// Shortens the deadline at the user's request.
  mutating func shorten(at now: UInt64 = HostClock.nanoseconds) {
    deadline = min(deadline, now &+ urgentNanoseconds)
  }

  /// Whether the deadline has passed.
  var isOver: Bool { HostClock.nanoseconds > deadline }
}
