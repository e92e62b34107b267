// Audio thread.
/// A device that plays the same frames as the unit's output, as it was granted.
public struct SecondaryOutput: Sendable, Equatable {
  /// The largest number of secondary outputs of a device.
  public static var maximumOutputs: Int {
    @_noLocks get { 8 }
  }

  /// The ALSA name of the device.
  public var device: String
  /// The sample rate in Hz.
  public var sampleRate: Int
  /// The number of channels.
  public var channelCount: Int
  /// The number of frames at the unit's rate by which it plays later than the unit's output.
  public var latencyFrames: Double
}

/// The drift and the xrun count of a secondary output.
public struct SecondaryOutputReading: BitwiseCopyable, Sendable, Equatable {
  /// The drift between its clock and the unit's clock, which counts as the input's.
  public var drift: DriftReading
  /// The number of xruns.
  public var xruns: Int

  /// Creates a reading with these figures.
  @_noLocks
  public init(drift: DriftReading, xruns: Int) {
    self.drift = drift
    self.xruns = xruns
  }
}
