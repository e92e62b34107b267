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
  private let time: SessionTime

  /// Starts to close the device. `isUrgent` means that the user requested the end.
  init(
    _ unit: consuming DuplexUnit<Callbacks>, draining: Bool, isUrgent: Bool,
    _ time: SessionTime
  ) {
    timeout = EndTimeout(
      closing: unit.configuration, draining: draining, isUrgent: isUrgent, at: time.now())
    self.time = time
    // If no thread can be created, the device is closed at once on this thread, and the queued
    // frames are not played.
    thread = try? RealtimeThread(
      name: "duplex-close", priority: .normal,
      Work(unit: unit, draining: draining, isClosed: isClosed))
  }

  /// Shortens the timeout at the user's request: to 200 ms plus the duration of the queued frames.
  func shorten() { timeout.shorten(at: time.now()) }

  /// Whether the device is closed or the timeout has passed.
  var isOver: Bool { thread == nil || isClosed.isRaised || timeout.isOver(at: time.now()) }

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
