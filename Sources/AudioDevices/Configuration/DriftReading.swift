// Audio thread.

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
