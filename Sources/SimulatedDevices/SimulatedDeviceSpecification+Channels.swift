import AudioDevices

extension SimulatedDeviceSpecification {
  /// The channels that `request` gets: what it asks for, else at most two. Throws `.refused` where
  /// there are not as many.
  func channelCount(for request: DuplexRequest) throws(DeviceFailure) -> Int {
    let most = self.channelCount
    let wanted = request.channelCount ?? min(2, most)
    guard (1...most).contains(wanted) else {
      throw DeviceFailure(
        .refused, "The simulated device has \(most) channels, not \(wanted).",
        hint: "Ask for 1 to \(most) channels, or give it more with sim:channels=\(wanted).")
    }
    return wanted
  }
}
