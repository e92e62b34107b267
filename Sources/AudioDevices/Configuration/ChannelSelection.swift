/// Which channels of a device a unit uses, where these are not all of them in their own order.
public struct ChannelSelection: Sendable, Equatable {
  /// The highest number that a channel of a device may have.
  public static let highestNumber = 256

  /// The numbers of the channels at the device, from 1, in the unit's order.
  public let channels: [Int]
  /// Channels with which the device is opened.
  public let deviceChannelCount: Int

  /// `channels` of a device that is opened with `deviceChannelCount`, each of them at most that. Nil
  /// where that is the whole device as it is.
  public init?(_ channels: [Int], of deviceChannelCount: Int) {
    precondition(channels.allSatisfy { (1...deviceChannelCount).contains($0) })
    guard channels != Array(1...deviceChannelCount) else { return nil }
    self.channels = channels
    self.deviceChannelCount = deviceChannelCount
  }
}

extension DuplexRequest {
  /// Refuses lists of channels that no device could have.
  func validateChannels() throws(DeviceFailure) {
    for (name, channels) in [("capture", captureChannels), ("playback", playbackChannels)] {
      guard let channels else { continue }
      let written = channels.map(String.init).joined(separator: ",")
      guard (1...64).contains(channels.count) else {
        throw DeviceFailure(
          .invalidRequest, "A list of \(channels.count) \(name) channels is impossible.",
          hint: "Name 1 to 64 channels, as 3,4.")
      }
      guard channels.allSatisfy({ (1...ChannelSelection.highestNumber).contains($0) }) else {
        throw DeviceFailure(
          .invalidRequest, "The \(name) channels \(written) are impossible.",
          hint: "Channels are numbered from 1 to \(ChannelSelection.highestNumber), as 3,4.")
      }
      if let channelCount, channelCount != channels.count {
        throw DeviceFailure(
          .invalidRequest,
          "\(channelCount) channel\(channelCount == 1 ? " is" : "s are") asked for, and \(channels.count) \(name) channels are "
            + "named: \(written).",
          hint: "Leave the number of channels out: the list tells it.")
      }
    }
    if let channels = playbackChannels, Set(channels).count < channels.count {
      throw DeviceFailure(
        .invalidRequest,
        "A playback channel is named twice: \(channels.map(String.init).joined(separator: ",")).",
        hint: "Name each playback channel once; only a capture channel may stand twice.")
    }
  }
}
