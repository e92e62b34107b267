// Audio thread.

/// When a device is away.
struct Unplugging: BitwiseCopyable, Sendable {
  private enum Fate: BitwiseCopyable {
    case ahead, away, past
  }

  private let seconds: Double
  private let returnSeconds: Double
  private var fate: Fate

  /// What `specification` says of one of two devices, if that one is meant.
  init(_ specification: SimulatedDeviceSpecification, _ side: SimulatedDeviceSpecification.Side) {
    let chosen = specification.unplugSide ?? .both
    seconds = specification.unplugSeconds ?? .infinity
    returnSeconds = specification.replugSeconds ?? .infinity
    fate = chosen == .both || chosen == side ? .ahead : .past
  }

  /// Whether whoever uses it finds it gone: from when it is pulled until he takes it up again.
  @_noLocks
  mutating func isAway(at time: Double) -> Bool {
    if case .ahead = fate, time >= seconds { fate = .away }
    if case .away = fate { return true }
    return false
  }

  /// Takes it up again, if it is there: always, where it was never pulled.
  @_noLocks
  mutating func takeBack(at time: Double) -> Bool {
    guard case .away = fate else { return true }
    guard time >= returnSeconds else { return false }
    fate = .past
    return true
  }
}
