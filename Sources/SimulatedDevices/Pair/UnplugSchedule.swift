// Audio thread.

/// The times at which one of two simulated devices is unplugged and comes back.
struct UnplugSchedule: ~Copyable, Sendable {
  private let absences: [SimulatedDeviceSpecification.UnplugInterval]
  /// The index of the next or current absence, and whether it is current.
  private var index = 0
  private var isNow = false

  /// Creates the absences of the device on this side from `specification`.
  init(_ specification: SimulatedDeviceSpecification, _ side: SimulatedDeviceSpecification.Side) {
    absences = specification.absences.filter { $0.side == .both || $0.side == side }
  }

  /// Returns whether the device is away: from the time at which it is unplugged until it is
  /// reattached.
  @_noLocks
  mutating func isAway(at time: Double) -> Bool {
    if !isNow, index < absences.count, time >= absences[index].seconds { isNow = true }
    return isNow
  }

  /// Reattaches the device if it is back. Returns whether it is present, which is also true if it
  /// was never unplugged.
  @_noLocks
  mutating func reattach(at time: Double) -> Bool {
    guard isNow else { return true }
    guard time >= absences[index].returnSeconds else { return false }
    isNow = false
    index &+= 1
    return true
  }
}
