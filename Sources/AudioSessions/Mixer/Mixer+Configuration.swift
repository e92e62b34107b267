import AudioDevices

extension Mixer {
  /// A mixer between the input and the output of a unit with this configuration.
  public init(_ configuration: DuplexConfiguration) {
    self.init(
      periodFrames: configuration.periodFrames,
      captureChannels: configuration.capture?.channelCount ?? 0,
      playbackChannels: configuration.playback?.channelCount ?? 0)
  }

  /// Throws `.invalidRequest` where the mixer was made for other channels or a shorter period, or the player is attached to a unit of another rate, period or number of
  /// channels.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    try checkShape(configuration)
    try player?.check(configuration)
  }
}
