// Audio thread.

/// The reconnect state of a device: present, away or returning, and the time of its last period.
struct ReconnectState: BitwiseCopyable {
  private enum Presence: BitwiseCopyable {
    /// There; away; or there again, and still to deliver its first period.
    case present, away, returning
  }

  private var presence = Presence.present
  /// When the last period was there, on the device's clock.
  private var lastPeriod: UInt64 = 0
  /// When the last period of another device was there that began the timeline; 0 without one.
  private var resumedFrom: UInt64 = 0

  init() {}

  /// The device takes the place of another one, whose last cycle ended at `last`.
  init(resuming last: CycleTime) {
    presence = .returning
    resumedFrom = last.nanoseconds
  }

  /// Whether the device is away.
  var isAway: Bool {
    @_noLocks get { presence == .away }
  }

  /// Whether it is away, or back without having delivered anything yet.
  var isOpen: Bool {
    @_noLocks get { presence != .present }
  }

  /// The device went away. False where that is told already: it was back only for a moment.
  @_noLocks
  mutating func begin() -> Bool {
    let isNews = presence == .present
    presence = .away
    return isNews
  }

  /// A period is there. Whether it is the first one after the device came back.
  @_noLocks
  mutating func end() -> Bool {
    let isReturn = presence == .returning
    presence = .present
    return isReturn
  }

  /// Remembers when a period was there.
  @_noLocks
  mutating func note(_ nanoseconds: UInt64) {
    lastPeriod = nanoseconds
  }

  /// Frames that have gone by since the last period.
  @_noLocks
  func frames(until now: UInt64, sampleRate: Int) -> Int {
    Int(clamping: Double(now &- lastPeriod) * 1e-9 * Double(sampleRate))
  }

  /// Frames that no device captured between the last period of another one and the first of this
  /// one, which was there at `now`. Told once, and 0 where no device was replaced.
  @_noLocks
  mutating func takeGap(until now: UInt64, _ shape: DuplexShape) -> Int {
    let last = resumedFrom
    resumedFrom = 0
    guard last > 0, now > last else { return 0 }
    let passed = Int(clamping: Double(now &- last) * 1e-9 * Double(shape.sampleRate))
    return max(0, passed &- shape.periodFrames)
  }

  /// The device is there again, and still to deliver its first period.
  @_noLocks
  mutating func beginReturn() { presence = .returning }
}
