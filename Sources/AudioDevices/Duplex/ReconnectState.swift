// Audio thread.

import AudioBasics

/// The reconnect state of a device: present, away or returning, and the time of its last period.
struct ReconnectState: BitwiseCopyable {
  private enum Presence: BitwiseCopyable {
    /// The device is present; it is away; it is back and has not delivered its first period yet.
    case present, away, returning
  }

  private var presence = Presence.present
  /// The time of the last period, in nanoseconds of the device's clock.
  private var lastPeriod: UInt64 = 0
  /// The time, in nanoseconds, of the last period of another device that began the timeline; 0 if
  /// there was none.
  private var resumedFrom: UInt64 = 0

  init() {}

  /// Creates the state of a device that replaces another one, whose last cycle ended at `last`.
  init(resuming last: CycleTime) {
    presence = .returning
    resumedFrom = last.nanoseconds
  }

  /// Whether the device is away.
  var isAway: Bool {
    @_noLocks get { presence == .away }
  }

  /// Whether the device is away, or is back and has not delivered a period yet.
  var isOpen: Bool {
    @_noLocks get { presence != .present }
  }

  /// Records the loss of the device. Returns false if the loss was already recorded because the
  /// device was back only briefly.
  @_noLocks
  mutating func begin() -> Bool {
    let isNew = presence == .present
    presence = .away
    return isNew
  }

  /// Records a period. Returns whether it is the first one since the device came back.
  @_noLocks
  mutating func end() -> Bool {
    let isReturn = presence == .returning
    presence = .present
    return isReturn
  }

  /// Stores the time of a period.
  @_noLocks
  mutating func note(_ nanoseconds: UInt64) {
    lastPeriod = nanoseconds
  }

  /// Returns the number of frames that have passed since the last period.
  @_noLocks
  func frames(until now: UInt64, sampleRate: Int) -> Int {
    Int(clamping: FrameTime.frames(in: now &- lastPeriod, at: sampleRate))
  }

  /// Returns the number of frames that no device captured between the last period of another device
  /// and the first period of this one, which was available at `now`. Returns it once, then 0.
  /// Returns 0 if no device was replaced.
  @_noLocks
  mutating func takeGap(until now: UInt64, _ shape: DuplexShape) -> Int {
    let last = resumedFrom
    resumedFrom = 0
    guard last > 0, now > last else { return 0 }
    let passed = Int(clamping: FrameTime.frames(in: now &- last, at: shape.sampleRate))
    return max(0, passed &- shape.periodFrames)
  }

  /// Records that the device is back and has not delivered its first period yet.
  @_noLocks
  mutating func beginReturn() { presence = .returning }
}
