/// Samples at even distances, and what of them a screen can show.
struct SampledCurve: Sendable {
  let samples: [Float]
  /// In frames.
  let first: Double
  let step: Double

  init(samples: [Float], first: Double, step: Double) {
    self.samples = samples
    self.first = first.isDrawable ? first : 0
    self.step = step.isDrawable && step > 0 ? step : 1
  }

  /// The lags of the first and of the last sample; empty without samples.
  var bounds: [Double] {
    samples.isEmpty ? [] : [first, lag(samples.count - 1)]
  }

  /// The smallest and the largest sample that is a number; nil when there is none.
  var range: ClosedRange<Double>? {
    let values = samples.lazy.filter(\.isDrawable)
    guard let least = values.min(), let greatest = values.max() else { return nil }
    return Double(least)...Double(greatest)
  }

  /// The points to draw: of each column of pixels its lowest and highest sample, in their order.
  ///
  /// So no peak is missed, however many samples share a column.
  func points(in plot: Plot) -> [Point] {
    var points: [Point] = []
    var column = -1
    var least = 0
    var greatest = 0
    for index in samples.indices where samples[index].isDrawable {
      let current = Int(clamping: plot.x.position(of: lag(index)))
      if current != column {
        if column >= 0 { append(least, greatest, to: &points, in: plot) }
        (column, least, greatest) = (current, index, index)
      }
      if samples[index] < samples[least] { least = index }
      if samples[index] > samples[greatest] { greatest = index }
    }
    if column >= 0 { append(least, greatest, to: &points, in: plot) }
    return points
  }

  private func append(_ one: Int, _ other: Int, to points: inout [Point], in plot: Plot) {
    for index in one == other ? [one] : [min(one, other), max(one, other)] {
      points.append(plot.point(lag(index), Double(samples[index])))
    }
  }

  private func lag(_ index: Int) -> Double { first + Double(index) * step }
}
