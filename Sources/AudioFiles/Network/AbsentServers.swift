/// Servers that no connection came about to a moment ago. Of a list of names on one of them, each would
/// be waited for in turn.
enum AbsentServers {
  private struct Absence: Sendable {
    let reason: String
    /// On the steady clock.
    let end: Double
  }

  private static let absences = ConditionLock<[Substring: Absence]>([:])

  /// Leaves the server of `address` alone for `seconds`, for `reason`.
  static func add(_ address: WebAddress, _ reason: String, for seconds: Double) {
    let now = SteadyClock.now
    let absence = Absence(reason: reason, end: now + seconds)
    absences.withLock { absences in
      absences = absences.filter { $0.value.end > now }
      absences[address.server] = absence
    }
  }

  /// Throws `.cannotOpen` where the server of `address` is to be left alone.
  static func check(_ address: WebAddress) throws(FileFailure) {
    let reason: String? = absences.withLock { absences in
      guard let absence = absences[address.server], absence.end > SteadyClock.now else {
        return nil
      }
      return absence.reason
    }
    if let reason { throw .unreachable(address, reason) }
  }
}
