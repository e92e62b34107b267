/// The impulse response from output to input, with a mark at every arrival.
struct ImpulseResponsePanel: Sendable {
  let curve: SampledCurve
  let arrivals: [Double]
  let rate: FrameRate

  func draw(in panel: Panel, on canvas: inout SVGCanvas) {
    let arrivals = self.arrivals.filter(\.isDrawable)
    let noun = arrivals.count == 1 ? "arrival" : "arrivals"
    let count = arrivals.isEmpty ? "" : "\(arrivals.count) \(noun) marked"
    panel.draw(title: "Impulse response", caption: count, on: &canvas)
    let range = curve.range
    guard range != nil || !arrivals.isEmpty else {
      return panel.drawNothingMeasured(on: &canvas)
    }
    let area = panel.plot
    let x = Axis(covering: curve.bounds + arrivals, start: area.left, end: area.right)
    let marks = ArrivalLabels(lags: arrivals, axis: x)
    // Labels get the top of the plot for themselves: the curve stays below.
    let labelRoom = arrivals.isEmpty ? 6 : 12 + Double(marks.rows) * ArrivalLabels.rowHeight
    let y = Axis(
      covering: [0] + (range.map { [$0.lowerBound, $0.upperBound] } ?? []),
      start: area.bottom - 6, end: area.top + labelRoom)
    let plot = Plot(area: area, x: x, y: y)
    if range != nil { plot.drawLevels(y.verticalTicks(), on: &canvas) }
    plot.drawTimes(rate: rate, on: &canvas)
    for label in marks.labels { drawMark(label, in: area, on: &canvas) }
    for label in marks.labels { drawText(label, in: area, on: &canvas) }
    canvas.curve(plot.points(of: curve.values), stroke: .signal, width: 1.3)
  }

  private func drawMark(
    _ label: ArrivalLabels.Label, in area: Rectangle, on canvas: inout SVGCanvas
  ) {
    let x = label.position
    canvas.group("arrival", tooltip: "arrival at \(rate.span(label.lag))") { canvas in
      canvas.vertical(at: x, of: area, stroke: .mark, isDashed: true)
      canvas.polygon(
        [
          Point(x: x - 5, y: area.top), Point(x: x + 5, y: area.top),
          Point(x: x, y: area.top + 8),
        ], fill: .mark)
    }
  }

  private func drawText(
    _ label: ArrivalLabels.Label, in area: Rectangle, on canvas: inout SVGCanvas
  ) {
    guard let row = label.row else { return }
    let baseline = area.top + 16 + Double(row) * ArrivalLabels.rowHeight
    let offset: Double = label.anchor == .end ? -7 : 7
    canvas.text(
      label.text, at: Point(x: label.position + offset, y: baseline), .mark, anchor: label.anchor,
      hasHalo: true)
  }
}

/// Samples at even distances.
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

  /// The samples that are numbers, with their lags.
  var values: some Sequence<(x: Double, y: Double)> {
    samples.indices.lazy.filter { samples[$0].isDrawable }
      .map { (x: lag($0), y: Double(samples[$0])) }
  }

  private func lag(_ index: Int) -> Double { first + Double(index) * step }
}
