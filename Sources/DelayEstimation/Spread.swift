/// The statistics of repeated measurements of one quantity: median, mean, deviation, extremes,
/// jitter.
///
/// ```swift
/// let spread = Spread(of: [612.1, 612.2, 612.0])
/// precondition(spread?.median == 612.1 && spread?.maximum == 612.2)
/// ```
public struct Spread: Sendable, Equatable {
  /// The middle value, or the mean of the two middle values.
  public let median: Double
  /// The mean.
  public let mean: Double
  /// The standard deviation of a single measurement, estimated from two or more of them.
  public let standardDeviation: Double
  /// The 95 % confidence interval of the mean, by Student's t distribution.
  public let interval95: ClosedRange<Double>
  /// The smallest value.
  public let minimum: Double
  /// The largest value.
  public let maximum: Double
  /// The mean absolute difference between successive measurements.
  public let jitter: Double

  /// Quantiles of Student's t distribution at 0.975, for 1 to 30 degrees of freedom.
  private static let quantiles = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
  ]

  /// Computes the statistics of `values`, in the order of measurement. Returns nil if there are
  /// none, or if their mean or deviation is not finite. The deviation of a single value is unknown
  /// and is assumed to be `deviationOfOne`.
  public init?(of values: [Double], deviationOfOne: Double = 0) {
    let sorted = values.sorted()
    guard let smallest = sorted.first, let largest = sorted.last else { return nil }
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let deviation = values.count > 1 ? (squares / (count - 1)).squareRoot() : deviationOfOne
    guard mean.isFinite, deviation.isFinite, deviation >= 0 else { return nil }
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    self.mean = mean
    minimum = smallest
    maximum = largest
    standardDeviation = deviation
    let degrees = values.count - 1
    let quantile = Self.quantiles.indices.contains(degrees - 1) ? Self.quantiles[degrees - 1] : 1.96
    let reach = quantile * deviation / count.squareRoot()
    interval95 = (mean - reach)...(mean + reach)
    let steps = zip(values, values.dropFirst()).map { abs($1 - $0) }
    jitter = steps.isEmpty ? 0 : steps.reduce(0, +) / Double(steps.count)
  }
}
