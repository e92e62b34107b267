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

/// The current drift between the clocks of input and output, and the error of their delay.
public struct DriftReading: BitwiseCopyable, Sendable, Equatable {
  /// Parts per million by which the input's clock runs faster than the output's.
  public var ppm: Double
  /// The error of the delay from input to output in frames, as far as the clocks are known;
  /// positive if the delay is too short.
  public var errorFrames: Double
  /// The number of times that the delay was set again, because a device had stopped or jumped.
  public var relocks: Int
  /// The number of frames by which the delay is longer than the configuration states, because the
  /// input delivers its frames in steps larger than its period.
  public var addedFrames = 0
  /// The number of frames for which the output has played silence instead of what it received,
  /// because its clock is not known; 0 if it plays what it receives, or is a secondary output.
  public var mutedFrames = 0

  /// Creates a reading with these figures.
  @_noLocks
  public init(ppm: Double, errorFrames: Double, relocks: Int) {
    self.ppm = ppm
    self.errorFrames = errorFrames
    self.relocks = relocks
  }
}
