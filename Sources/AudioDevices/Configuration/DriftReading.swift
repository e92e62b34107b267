// Audio thread.

/// How two clocks are held together, at the moment.
public struct DriftReading: BitwiseCopyable, Sendable, Equatable {
  /// Parts per million by which the input's clock runs faster than the output's.
  public var ppm: Double
  /// Frames by which the delay from input to output is off what it should be, as far as the clocks
  /// are known: more than 0 where it is too short.
  public var errorFrames: Double
  /// How often the delay was set anew, because a device had stopped or jumped.
  public var relocks: Int
  /// Frames by which the delay is longer than the configuration says, because the input delivers its
  /// frames in steps larger than its period.
  public var addedFrames = 0

  /// A reading with these figures.
  @_noLocks
  public init(ppm: Double, errorFrames: Double, relocks: Int) {
    self.ppm = ppm
    self.errorFrames = errorFrames
    self.relocks = relocks
  }
}
