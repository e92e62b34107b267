/// What a unit knows of a device that went away: whether it is back, since when nothing came, and
/// what was told already.
struct ReconnectState {
  private enum Presence {
    /// Away; or there again, and still to deliver its first period.
    case present, away, returning
  }

  private var presence = Presence.present
  /// When the last period was there, on the device's clock.
  private var lastPeriod: UInt64 = 0
  /// Looks that ended alike, one after the other.
  private var refusals = 0
  private var refusal: DeviceFailure?

  init() {}

  /// Whether the device is away.
  var isAway: Bool {
    @_noLocks get { presence == .away }
  }

  /// Whether it is away, or back without having delivered anything yet.
  var isOpen: Bool {
    @_noLocks get { presence != .present }
  }

  /// The device went away. False where that is told already: it was back only for a moment.
  mutating func begin() -> Bool {
    defer { presence = .away }
    refusals = 0
    refusal = nil
    return presence == .present
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
  func frames(until now: UInt64, sampleRate: Int) -> Int {
    Int(clamping: Double(now &- lastPeriod) * 1e-9 * Double(sampleRate))
  }

  /// Takes what a look for the device found, and answers whether somebody should be told: that it
  /// is back, or is there and cannot be had.
  mutating func see(_ found: DeviceReturn) -> Bool {
    switch found {
    case .absent:
      refusals = 0
      return false
    case .returned:
      presence = .returning
      return true
    case .refused(let failure):
      refusals = failure == refusal ? refusals + 1 : 1
      refusal = failure
      // Who looks at new cards holds them for a moment, and rights to them are given late.
      let isFinal = failure.kind == .refused || failure.kind == .invalidRequest
      return refusals == (isFinal ? 1 : 20)
    }
  }
}
