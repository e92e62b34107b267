/// A measured round trip as a picture: the impulse response, the correlation's peak, how the
/// repeats scatter, and where the time is spent.
///
/// Values that are no finite number are left out; what is missing says "nothing measured".
public struct LatencyPicture: Sendable {
  /// What was measured, as "hw:USB to hw:USB".
  public var title: String
  /// How it was measured: rate, period, headroom, number of measurements.
  public var subtitle: String
  /// Frames a second.
  public var sampleRate: Int
  /// The round trip from output to input, in frames: the median of the measurements.
  public var roundTripFrames: Double
  /// The standard deviation of the measurements, in frames.
  public var standardDeviationFrames: Double
  /// The impulse response from output to input, one element a frame.
  public var impulseResponse: [Float]
  /// The lag of the impulse response's first element, in frames.
  public var impulseFirstFrame: Double
  /// The correlation around its peak, interpolated.
  public var correlation: [Float]
  /// The lag of the correlation's first element, in frames.
  public var correlationFirstFrame: Double
  /// The distance between two elements of the correlation, in frames.
  public var correlationStepFrames: Double
  /// Lags to mark in the impulse response, in frames.
  public var arrivals: [Double]
  /// The round trip of each repeat, in frames.
  public var measurements: [Double]
  /// What the unit itself buffers, in frames.
  public var bufferFrames: Double
  /// What driver, converters and wire add, in frames; measured too short, it is below zero.
  public var externalFrames: Double
  /// The round trip that ALSA claims, in frames; nil where it makes no claim.
  public var claimedFrames: Double?

  /// A picture of these values; frames are counted at `sampleRate`.
  public init(
    title: String, subtitle: String, sampleRate: Int, roundTripFrames: Double,
    standardDeviationFrames: Double, impulseResponse: [Float], impulseFirstFrame: Double,
    correlation: [Float], correlationFirstFrame: Double, correlationStepFrames: Double,
    arrivals: [Double], measurements: [Double], bufferFrames: Double, externalFrames: Double,
    claimedFrames: Double?
  ) {
    self.title = title
    self.subtitle = subtitle
    self.sampleRate = sampleRate
    self.roundTripFrames = roundTripFrames
    self.standardDeviationFrames = standardDeviationFrames
    self.impulseResponse = impulseResponse
    self.impulseFirstFrame = impulseFirstFrame
    self.correlation = correlation
    self.correlationFirstFrame = correlationFirstFrame
    self.correlationStepFrames = correlationStepFrames
    self.arrivals = arrivals
    self.measurements = measurements
    self.bufferFrames = bufferFrames
    self.externalFrames = externalFrames
    self.claimedFrames = claimedFrames
  }
}
