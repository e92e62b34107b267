import AudioDevices
import RealtimeAudio

// How long a session waits for others: for the audio thread, for its watcher, and at its end for
// disks and devices. The limits of the audio thread itself are in `UnitTimeouts`.

/// The clock by which a session waits in real time, and its pauses.
struct SessionTime {
  /// The time in nanoseconds.
  var now: () -> UInt64 = { HostClock.nanoseconds }
  /// Pauses the calling thread.
  var pause: (_ milliseconds: Int) -> Void = { HostClock.pause(milliseconds: $0) }
}

/// A watchdog that checks whether the audio thread returns from its calls of a device.
struct AudioThreadWatchdog {
  /// The time in nanoseconds for which a device may not respond once an end was requested.
  private static let endLimit: UInt64 = 200_000_000

  private var turns = -1
  private var since: UInt64
  private var isEnding = false
  /// The number of seconds for which a device may not respond.
  let limitSeconds: Int

  /// Creates a watchdog at the time `now` in nanoseconds. Its limit is longer if it `reconnects`: a
  /// device that went away and is waited for may take longer to be opened again.
  init(reconnects: Bool, at now: UInt64) {
    limitSeconds = reconnects ? 20 : 6
    since = now
  }

  /// Returns whether the thread, which has begun `turns` turns by the time `now` in nanoseconds,
  /// began another one within the limit, which is `endLimit` once an end was requested.
  mutating func isInTime(_ turns: Int, isEnding: Bool, at now: UInt64) -> Bool {
    if turns != self.turns || isEnding != self.isEnding { since = now }
    self.turns = turns
    self.isEnding = isEnding
    return now &- since < (isEnding ? Self.endLimit : UInt64(limitSeconds) * 1_000_000_000)
  }
}

/// The minimum interval between two calls of a watcher, so that a watcher that returns at once is
/// not called continuously.
struct WatchInterval {
  /// The interval in nanoseconds.
  private static let interval: UInt64 = 10_000_000

  private var began: UInt64 = 0

  /// Notes that the watcher is about to be called at the time `now` in nanoseconds.
  mutating func begin(at now: UInt64) { began = now }

  /// Returns the number of pauses of 1 ms until the watcher, which has returned at the time `now`
  /// in nanoseconds, may be called again.
  func pauses(at now: UInt64) -> Int {
    let passed = now &- began
    return passed < Self.interval ? Int((Self.interval &- passed &+ 999_999) / 1_000_000) : 0
  }

  /// Rests after the watcher has returned, until the interval is over or until `isOver` returns
  /// true.
  func rest(_ time: SessionTime, unless isOver: () -> Bool) {
    for _ in 0..<pauses(at: time.now()) where !isOver() { time.pause(1) }
  }
}

/// The deadline of a wait at the end of a session.
struct EndTimeout {
  /// The end of the wait, in nanoseconds.
  private(set) var deadline: UInt64
  private let urgentNanoseconds: UInt64

  /// Creates a deadline in `seconds` after the time `now` in nanoseconds, or in `urgentSeconds` if
  /// the user requested the end.
  init(seconds: Double = 2, urgentSeconds: Double = 0.125, isUrgent: Bool, at now: UInt64) {
    deadline = now &+ UInt64(clamping: seconds * 1e9)
    urgentNanoseconds = UInt64(clamping: urgentSeconds * 1e9)
    if isUrgent { shorten(at: now) }
  }

  /// Creates the deadline of a device that is closed at the time `now` in nanoseconds. The queued
  /// frames of a device without input are played first if it is `draining`. A sound server takes
  /// part in the closing, and may be late on a busy machine: at the user's first request it has a
  /// second.
  init(closing device: DuplexConfiguration, draining: Bool, isUrgent: Bool, at now: UInt64) {
    let queued = device.playback.map { Double($0.bufferFrames) / Double($0.sampleRate) } ?? 0
    if draining && device.capture == nil {
      self.init(seconds: 3 + 2 * queued, urgentSeconds: 0.2 + queued, isUrgent: isUrgent, at: now)
    } else if isUrgent && (device.capture?.isServer == true || device.playback?.isServer == true) {
      self.init(seconds: 1, urgentSeconds: 0.2, isUrgent: false, at: now)
    } else {
      self.init(urgentSeconds: 0.2, isUrgent: isUrgent, at: now)
    }
  }

  /// Shortens the deadline at the user's request, at the time `now` in nanoseconds.
  mutating func shorten(at now: UInt64) { deadline = min(deadline, now &+ urgentNanoseconds) }

  /// Returns whether the deadline has passed at the time `now` in nanoseconds.
  func isOver(at now: UInt64) -> Bool { now > deadline }
}
