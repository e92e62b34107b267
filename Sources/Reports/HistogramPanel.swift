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
    plot.drawLevels(plot.y.countTicks(), on: &canvas)
    plot.drawTimes(rate: rate, on: &canvas)
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

/// How many values fall into each of the bins, whose centres are round values.
struct Histogram: Sendable {
  let firstEdge: Double
  let binWidth: Double
  let counts: [Int]

  /// Counts the numbers among `values`; no bins without any.
  init(_ values: [Double]) {
    let values = values.filter(\.isDrawable)
    guard let least = values.min(), let greatest = values.max() else {
      (firstEdge, binWidth, counts) = (0, 1, [])
      return
    }
    // Few values need few bins, and more than 24 are no clearer.
    let target = min(max(2 * Double(values.count).squareRoot(), 8), 24).rounded()
    // No narrower than an axis can show; equal values share one bin of a hundredth.
    let finest = max(least.magnitude, greatest.magnitude, 1) * 1e-7
    let spread = greatest > least ? (greatest - least) / target : 0.01
    let width = RoundStep(atLeast: max(spread, finest)).value
    let first = (least / width).rounded()
    var counts = [Int](repeating: 0, count: Int(clamping: (greatest / width).rounded() - first) + 1)
    for value in values { counts[Int(clamping: (value / width).rounded() - first)] += 1 }
    (firstEdge, binWidth, self.counts) = ((first - 0.5) * width, width, counts)
  }

  /// The value where bin `index` begins, and the one before it ends.
  func edge(_ index: Int) -> Double { firstEdge + Double(index) * binWidth }
}

/// Where the round trip is spent: in the unit's buffers, or in driver, converters and wire.
struct BreakdownPanel: Sendable {
  let bufferFrames: Double
  let externalFrames: Double
  let claimedFrames: Double?
  let rate: FrameRate

  func draw(in panel: Panel, on canvas: inout SVGCanvas) {
    panel.draw(title: "Where the time goes", caption: claimCaption, on: &canvas)
    guard bufferFrames.isDrawable, externalFrames.isDrawable, !(bufferFrames == 0 && total == 0)
    else { return panel.drawNothingMeasured(on: &canvas) }
    drawFigures(in: panel.content, on: &canvas)
    let area = panel.frame.inset(left: 18, top: 120, right: 62, bottom: 38)
    let plot = Plot(
      area: area,
      x: Axis(
        covering: [0, bufferFrames, total, claimedFrames ?? 0], start: area.left,
        end: area.right),
      y: Axis(covering: [0, 1], start: area.bottom, end: area.top))
    plot.drawTimes(rate: rate, on: &canvas)
    drawBars(in: plot, on: &canvas)
    drawClaim(in: plot, on: &canvas)
  }

  private var total: Double { bufferFrames + externalFrames }

  private var claimCaption: String {
    guard let claimedFrames, claimedFrames.isDrawable, total.isDrawable else { return "" }
    let difference = total - claimedFrames
    guard abs(difference) >= 0.005 else { return "measured: as ALSA claims" }
    let word = difference < 0 ? "less" : "more"
    return "measured: \(rate.frames(abs(difference))) \(word) than ALSA claims"
  }

  /// The legend, with the figure of each part.
  private func drawFigures(in area: Rectangle, on canvas: inout SVGCanvas) {
    var figures: [(name: String, frames: Double, paint: Paint)] = [
      ("unit\u{2019}s buffers", bufferFrames, .signal),
      ("driver, converters, wire", externalFrames, .external),
    ]
    if let claimedFrames { figures.append(("ALSA\u{2019}s claim", claimedFrames, .ink)) }
    let width = area.width / 3
    for (index, figure) in figures.enumerated() {
      let left = area.left + Double(index) * width
      let swatch = Rectangle(left: left, top: area.top + 5, width: 12, height: 12)
      if figure.paint == .ink {
        drawDiamond(at: Point(x: left + 6, y: area.top + 11), on: &canvas)
      } else {
        canvas.rectangle(swatch, fill: figure.paint, cornerRadius: 2)
      }
      canvas.text(
        figure.name, at: Point(x: left + 20, y: area.top + 15), .caption, width: width - 24)
      canvas.text(
        rate.span(figure.frames), at: Point(x: left + 20, y: area.top + 33), .value,
        width: width - 24)
    }
  }

  private func drawBars(in plot: Plot, on canvas: inout SVGCanvas) {
    let parts = [
      (from: 0, to: bufferFrames, paint: Paint.signal),
      (from: bufferFrames, to: total, paint: Paint.external),
    ]
    for part in parts {
      // A part below zero takes back from the one before: it lies on top, and lower.
      let isNegative = part.to < part.from
      let top = plot.area.top + (isNegative ? 18 : 6)
      canvas.rectangle(
        Rectangle(
          from: plot.x.position(of: part.from), to: plot.x.position(of: part.to), top: top,
          height: plot.area.bottom - 6 - top),
        fill: part.paint)
    }
  }

  private func drawClaim(in plot: Plot, on canvas: inout SVGCanvas) {
    guard let claimedFrames, plot.x.contains(claimedFrames) else { return }
    let x = plot.x.position(of: claimedFrames)
    canvas.group("claim", tooltip: "ALSA claims \(rate.span(claimedFrames))") { canvas in
      // The wider line below sets the mark off from the bars.
      for (paint, width) in [(Paint.card, 6.0), (.ink, 2)] {
        canvas.vertical(at: x, of: plot.area, stroke: paint, width: width)
      }
      drawDiamond(at: Point(x: x, y: plot.area.top), on: &canvas)
    }
  }

  private func drawDiamond(at centre: Point, on canvas: inout SVGCanvas) {
    let (x, y) = (centre.x, centre.y)
    canvas.polygon(
      [
        Point(x: x, y: y - 6), Point(x: x + 6, y: y), Point(x: x, y: y + 6),
        Point(x: x - 6, y: y),
      ], fill: .ink)
  }
}
