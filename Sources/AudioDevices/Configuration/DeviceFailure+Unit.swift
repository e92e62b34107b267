/// Why a unit cannot go on.
extension DeviceFailure {
  static func lost(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost, "The device \(configuration.deviceNames) went away.",
      hint: "Plug it in again, then start anew; what was recorded so far is saved.")
  }

  static func breathless(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost,
      "The device \(configuration.deviceNames) loses frames faster than it delivers them.",
      hint: "Ask for a larger --period-size or --headroom, or find both with `duplex tune`.")
  }

  /// A device that delivers nothing.
  package static func stalled(_ configuration: DuplexConfiguration) -> DeviceFailure {
    DeviceFailure(
      .lost, "The device \(configuration.deviceNames) has delivered nothing for 5 seconds.",
      hint: "Check its cable and clock source, then start anew.")
  }
}
