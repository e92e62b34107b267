/// Which of the looks for a device that went away are worth telling.
struct ReconnectReport {
  /// Looks that ended alike, one after the other.
  private var refusals = 0
  private var refusal: DeviceFailure?

  init() {}

  /// Takes what a look found, and answers whether the user is to be told: that the device is back,
  /// or is there and cannot be had.
  mutating func isNews(_ found: DeviceReturn) -> Bool {
    switch found {
    case .absent:
      refusals = 0
      return false
    case .returned: return true
    case .refused(let failure):
      refusals = failure == refusal ? refusals + 1 : 1
      refusal = failure
      // A sound server opens new cards for a moment to examine them, and access rights come late.
      let isFinal = failure.kind == .refused || failure.kind == .invalidRequest
      return refusals == (isFinal ? 1 : 20)
    }
  }
}
