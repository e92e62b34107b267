// Audio thread.
import RealtimeAudio

/// A device that plays the same as the unit's output, as it was granted.
public struct SecondaryOutput: Sendable, Equatable {
  /// The most further outputs that a device can have.
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

/// How a further output does.
public struct SecondaryOutputReading: BitwiseCopyable, Sendable, Equatable {
  /// How its clock and the unit's are held together: the unit's is the input.
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
