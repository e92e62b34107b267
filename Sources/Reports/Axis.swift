import Glibc

/// Where values lie along a line of pixels.
struct Axis: Sendable {
  let lower: Double
  let upper: Double
  /// The pixel of `lower`, and that of `upper`: the smaller one on a vertical axis.
  let start: Double
  let end: Double
  /// Whether equal distances are equal ratios. Then both bounds are above zero.
  let isLogarithmic: Bool

  /// An axis over `values`, widened where they are all one, for a range of zero has no scale.
  init(
    covering values: [Double], start: Double, end: Double, margin: Double = 0,
    isLogarithmic: Bool = false
  ) {
    let values = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
    let lower = values.min() ?? (isLogarithmic ? 1 : 0)
    let upper = values.max() ?? 1
    self.start = start
    self.end = end
    self.isLogarithmic = isLogarithmic
    if isLogarithmic {
      self.lower = lower
      self.upper = max(upper, lower * 2)
    } else {
      // Beyond nine digits neighbouring values become one.
      let least = max(lower.magnitude, upper.magnitude, 1) * 1e-9
      let added = max((upper - lower) * margin, (least - (upper - lower)) / 2, 0)
      self.lower = lower - added
      self.upper = upper + added
    }
  }

  /// The pixel of `value`, kept within the axis.
  func position(of value: Double) -> Double {
    let share = (scaled(value) - scaled(lower)) / (scaled(upper) - scaled(lower))
    return start + min(max(share, 0), 1) * (end - start)
  }

  /// Whether `value` lies on the axis.
  func contains(_ value: Double) -> Bool { value >= lower && value <= upper }

  /// Pixels from end to end.
  var length: Double { abs(end - start) }

  /// The same line of pixels in another unit, `factor` of which are one of this.
  func converted(by factor: Double) -> Axis {
    Axis(
      covering: [lower * factor, upper * factor], start: start, end: end,
      isLogarithmic: isLogarithmic)
  }

  private func scaled(_ value: Double) -> Double {
    isLogarithmic ? log10(max(value, lower)) : value
  }
}
