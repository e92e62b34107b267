/// How the repeats scatter, with their median and standard deviation.
struct HistogramPanel: Sendable {
  let measurements: [Double]
  let median: Double
  let standardDeviation: Double
  let rate: FrameRate

  func draw(in panel: Panel, on canvas: inout SVGCanvas) {
    let histogram = Histogram(measurements)
    panel.draw(title: "Repeats", caption: histogram.counts.isEmpty ? "" : caption, on: &canvas)
    guard let most = histogram.counts.max() else { return panel.drawNothingMeasured(on: &canvas) }
    let area = panel.plot
    let bounds = [histogram.firstEdge, histogram.edge(histogram.counts.count)]
    // At least one empty bin on each side shows that nothing lies beyond.
    let margin = max(0.2, 1.5 / Double(histogram.counts.count))
    let plot = Plot(
      area: area,
      x: Axis(covering: bounds, start: area.left, end: area.right, margin: margin),
      y: Axis(covering: [0, Double(most)], start: area.bottom, end: area.top + 28))
    plot.drawScales(rate: rate, yTicks: plot.y.countTicks(), on: &canvas)
    drawBars(histogram, in: plot, on: &canvas)
    drawMean(in: plot, on: &canvas)
  }

  private var caption: String {
    guard measurements.count > 1 else { return "one measurement" }
    guard median.isDrawable, standardDeviation.isDrawable else { return "" }
    let decimals = NumberText.decimals(for: standardDeviation)
    return "median " + NumberText.shortest(median, decimals: decimals) + ", standard deviation "
      + NumberText.shortest(standardDeviation, decimals: decimals)
  }

  private func drawBars(_ histogram: Histogram, in plot: Plot, on canvas: inout SVGCanvas) {
    for (index, count) in histogram.counts.enumerated() where count > 0 {
      let left = plot.point(histogram.edge(index), Double(count))
      let right = plot.x.position(of: histogram.edge(index + 1))
      let gap = min(1, (right - left.x) / 8)
      let noun = count == 1 ? "measurement" : "measurements"
      let centre = (histogram.edge(index) + histogram.edge(index + 1)) / 2
      canvas.group("bar", tooltip: "\(count) \(noun) near \(rate.frames(centre, decimals: 6))") {
        $0.rectangle(
          Rectangle(
            from: left.x + gap, to: right - gap, top: left.y, height: plot.area.bottom - left.y),
          fill: .signal)
      }
    }
  }

  /// The median as a line, and one standard deviation to either side as a whisker above the bars.
  private func drawMean(in plot: Plot, on canvas: inout SVGCanvas) {
    guard measurements.count > 1, standardDeviation.isDrawable, plot.x.contains(median) else {
      return
    }
    let x = plot.x.position(of: median)
    let y = plot.area.top + 14
    canvas.line(
      from: Point(x: x, y: y), to: Point(x: x, y: plot.area.bottom), stroke: .mark,
      isDashed: true)
    let ends = [median - standardDeviation, median + standardDeviation].map(plot.x.position(of:))
    canvas.line(
      from: Point(x: ends[0], y: y), to: Point(x: ends[1], y: y), stroke: .mark, width: 2)
    for end in ends {
      canvas.line(
        from: Point(x: end, y: y - 5), to: Point(x: end, y: y + 5), stroke: .mark, width: 2)
    }
    canvas.dot(at: Point(x: x, y: y), radius: 4, fill: .mark)
  }
}
