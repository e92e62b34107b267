// Audio thread.
/// A device that plays the same as the unit's output, as it was granted.
public struct SecondaryOutput: Sendable, Equatable {
  /// The most secondary outputs that a device can have.
  public static var mostOutputs: Int {
    @_noLocks get { 8 }
  }

  /// The ALSA name.
  public var device: String
  /// Frames a second.
  public var sampleRate: Int
  /// Samples in a frame.
  public var channelCount: Int
  /// Frames at the unit's rate by which it plays later than the unit's output.
  public var latencyFrames: Double
}

/// The drift and the xrun count of a secondary output.
public struct SecondaryOutputReading: BitwiseCopyable, Sendable, Equatable {
  /// The drift between its clock and the unit's, which counts as the input's.
  public var drift: DriftReading
  /// How often it ran dry.
  public var xruns: Int

  /// A reading with these figures.
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
  /// Frames by which the delay from input to output is off what it should be, as far as the clocks
  /// are known: more than 0 where it is too short.
  public var errorFrames: Double
  /// How often the delay was set anew, because a device had stopped or jumped.
  public var relocks: Int
  /// Frames by which the delay is longer than the configuration says, because the input delivers
  /// its frames in steps larger than its period.
  public var addedFrames = 0

  /// A reading with these figures.
  @_noLocks
  public init(ppm: Double, errorFrames: Double, relocks: Int) {
    self.ppm = ppm
    self.errorFrames = errorFrames
    self.relocks = relocks
  }
}
