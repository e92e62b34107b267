/// Values at equal distances in time, for plots: an impulse response, or a correlation over the
/// delay.
public struct SampledCurve: Sendable, Equatable {
  /// The values, in order.
  public var values: [Float]
  /// The position of the first value in frames.
  public var firstFrame: Double
  /// The distance between two values in frames.
  public var stepFrames: Double

  /// Creates a curve of `values` from `firstFrame` on, in steps of `stepFrames`.
  public init(_ values: [Float] = [], firstFrame: Double = 0, stepFrames: Double = 1) {
    self.values = values
    self.firstFrame = firstFrame
    self.stepFrames = stepFrames
  }
}
