import AudioBasics

/// A measured round trip as a picture: the impulse response, the correlation peak, the spread of
/// the repeats, and the parts of the delay.
///
/// Values that are not finite numbers are left out. A panel without values shows "nothing
/// measured".
public struct LatencyPicture: Sendable {
  /// The measured devices, for example "hw:USB to hw:USB".
  public var title: String
  /// The conditions of the measurement: rate, period, headroom, number of measurements.
  public var subtitle: String
  /// The rate in frames per second.
  public var sampleRate: Int
  /// The round trip from output to input, in frames: the median of the measurements.
  public var roundTripFrames: Double
  /// The standard deviation of the measurements, in frames.
  public var standardDeviationFrames: Double
  /// The impulse response from output to input, over the lag.
  public var impulseResponse: SampledCurve
  /// The correlation around its peak over the lag, interpolated.
  public var correlation: SampledCurve
  /// The lags to mark in the impulse response, in frames.
  public var arrivals: [Double]
  /// The round trip of each repeat, in frames.
  public var measurements: [Double]
  /// The frames that the unit itself buffers, including those that it adds while it runs.
  public var bufferFrames: Double
  /// The round trip that ALSA reports, in frames, or nil if it reports none.
  public var claimedFrames: Double?

  /// Creates a picture of these values. Frames are counted at `sampleRate`.
  public init(
    title: String, subtitle: String, sampleRate: Int, roundTripFrames: Double,
    standardDeviationFrames: Double, impulseResponse: SampledCurve, correlation: SampledCurve,
    arrivals: [Double], measurements: [Double], bufferFrames: Double, claimedFrames: Double?
  ) {
    self.title = title
    self.subtitle = subtitle
    self.sampleRate = sampleRate
    self.roundTripFrames = roundTripFrames
    self.standardDeviationFrames = standardDeviationFrames
    self.impulseResponse = impulseResponse
    self.correlation = correlation
    self.arrivals = arrivals
    self.measurements = measurements
    self.bufferFrames = bufferFrames
    self.claimedFrames = claimedFrames
  }

  /// The frames added by driver, converters and wire. Negative if the measured round trip is
  /// shorter than the buffers.
  public var externalFrames: Double { roundTripFrames - bufferFrames }
}

extension LatencyPicture {
  /// Returns the picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    page.svg(height: 786) { drawing, area in
      var panel = Rectangle(left: area.left, top: area.top, width: area.width, height: 290)
      impulsePanel.draw(in: panel, on: &drawing)
      panel.top = panel.bottom + 16
      (panel.width, panel.height) = ((area.width - 16) / 2, 270)
      correlationPanel.draw(in: panel, on: &drawing)
      panel.left = panel.right + 16
      HistogramPanel(
        measurements: measurements, median: roundTripFrames,
        standardDeviation: standardDeviationFrames, rate: rate
      ).draw(in: panel, on: &drawing)
      BreakdownPanel(
        bufferFrames: bufferFrames, roundTripFrames: roundTripFrames, claimedFrames: claimedFrames,
        rate: rate
      ).draw(in: area.inset(top: 592), on: &drawing)
    }
  }

  /// Returns a complete HTML page with the picture and a table of its figures.
  public func html() -> String {
    ReportPage.html(title: title, picture: svg(), columns: ["", "frames", "ms"], rows: figures)
  }

  private var rate: FrameRate { FrameRate(sampleRate) }

  /// Whether a round trip was measured. Without measurements, a round trip of 0 or less means that
  /// none was measured. With measurements any value counts, since a recording may even be early.
  private var hasRoundTrip: Bool {
    roundTripFrames.isDrawable && (roundTripFrames > 0 || !measurements.isEmpty)
  }

  /// Whether there is a standard deviation, which requires more than one measurement.
  private var hasDeviation: Bool {
    hasRoundTrip && measurements.count > 1 && standardDeviationFrames.isDrawable
  }

  private var page: ReportPage {
    let decimals = NumberText.decimals(for: standardDeviationFrames)
    let deviation =
      hasDeviation
      ? " \u{B1} " + NumberText.shortest(standardDeviationFrames, decimals: decimals) : ""
    let median = NumberText.shortest(roundTripFrames, decimals: decimals)
    return ReportPage(
      title: title, subtitle: subtitle,
      headline: hasRoundTrip ? rate.milliseconds(roundTripFrames) : "nothing measured",
      detail: hasRoundTrip ? median + deviation + " frames" : "")
  }

  private var figures: [[String]] {
    let roundTrip: [(name: String, frames: Double)] = [
      ("Round trip", hasRoundTrip ? roundTripFrames : .nan),
      ("Standard deviation", hasDeviation ? standardDeviationFrames : .nan),
      ("Unit\u{2019}s buffers", bufferFrames),
      ("Driver, converters, wire", externalFrames),
      ("ALSA\u{2019}s claim", claimedFrames ?? .nan),
    ]
    return (roundTrip + arrivals.map { ("Arrival", $0) }).map { name, frames in
      guard frames.isDrawable else { return [name, "\u{2013}", "\u{2013}"] }
      let milliseconds = frames * rate.millisecondsPerFrame
      return [
        name, NumberText.shortest(frames, decimals: 4),
        NumberText.shortest(milliseconds, decimals: 6),
      ]
    }
  }

  /// The impulse response, with a mark at every arrival.
  private var impulsePanel: CurvePanel {
    let curve = Self.points(of: impulseResponse)
    let arrivals = self.arrivals.filter(\.isDrawable)
    return CurvePanel(
      title: "Impulse response",
      caption: arrivals.isEmpty ? "" : "\(arrivals.count.counted("arrival")) marked", curve: curve,
      times: curve.map(\.x) + arrivals, levels: [0] + curve.map(\.y), markName: "arrival",
      marks: arrivals.map {
        CurvePanel.Mark(
          time: $0, label: NumberText.shortest($0, decimals: 2),
          tooltip: "arrival at \(rate.span($0))")
      }, rate: rate)
  }

  /// The enlarged peak of the correlation, with a mark at the round trip.
  private var correlationPanel: CurvePanel {
    let curve = Self.points(of: correlation)
    let peak = curve.map(\.y).max().map { "peak " + NumberText.shortest($0, decimals: 3) }
    return CurvePanel(
      title: "Correlation peak", caption: peak ?? "", curve: curve, times: curve.map(\.x),
      levels: [0] + curve.map(\.y),
      marks: [
        CurvePanel.Mark(
          time: roundTripFrames, label: rate.frames(roundTripFrames, decimals: 3),
          tooltip: "round trip of \(rate.span(roundTripFrames))")
      ], rate: rate)
  }

  /// Returns the values of `curve` as points, without those that are not a number (NaN) or not
  /// drawable.
  private static func points(of curve: SampledCurve) -> [Point] {
    let first = curve.firstFrame.isDrawable ? curve.firstFrame : 0
    let step = curve.stepFrames.isDrawable && curve.stepFrames > 0 ? curve.stepFrames : 1
    return curve.values.enumerated().filter { $0.element.isDrawable }
      .map { (first + Double($0.offset) * step, Double($0.element)) }
  }
}

/// The panel with the histogram of the repeats, their median and standard deviation.
struct HistogramPanel {
  let measurements: [Double]
  let median: Double
  let standardDeviation: Double
  let rate: FrameRate

  func draw(in frame: Rectangle, on drawing: inout SVGDrawing) {
    let panel = Panel(frame: frame)
    let histogram = Histogram(measurements)
    panel.draw(title: "Repeats", caption: histogram.counts.isEmpty ? "" : caption, on: &drawing)
    guard let maximum = histogram.counts.max() else {
      return panel.drawNothingMeasured(on: &drawing)
    }
    let area = panel.plot
    let count = histogram.counts.count
    let plot = Plot(
      area: area,
      // At least one empty bin on each side shows that no values are beyond.
      x: Axis(
        covering: [histogram.edge(0), histogram.edge(count)], start: area.left, end: area.right,
        margin: max(0.2, 1.5 / Double(count))),
      y: Axis(covering: [0, Double(maximum)], start: area.bottom, end: area.top + 28))
    plot.drawLevels(plot.y.countTicks(), on: &drawing)
    plot.drawTimes(rate, on: &drawing)
    for (index, count) in histogram.counts.enumerated() where count > 0 {
      let left = plot.point(histogram.edge(index), Double(count))
      let right = plot.point(histogram.edge(index + 1), 0)
      let gap = min(1, (right.x - left.x) / 8)
      let centre = (histogram.edge(index) + histogram.edge(index + 1)) / 2
      drawing.group(
        "bar", tooltip: "\(count.counted("measurement")) near \(rate.frames(centre, decimals: 6))"
      ) {
        $0.rectangle(
          Rectangle(
            from: left.x + gap, to: right.x - gap, top: left.y, height: right.y - left.y),
          fill: .signal)
      }
    }
    drawSpread(in: plot, on: &drawing)
  }

  private var caption: String {
    guard measurements.count > 1 else { return "one measurement" }
    guard median.isDrawable, standardDeviation.isDrawable else { return "" }
    let decimals = NumberText.decimals(for: standardDeviation)
    return "median " + NumberText.shortest(median, decimals: decimals) + ", standard deviation "
      + NumberText.shortest(standardDeviation, decimals: decimals)
  }

  /// Draws the median as a line, and one standard deviation to either side as a whisker above the
  /// bars.
  private func drawSpread(in plot: Plot, on drawing: inout SVGDrawing) {
    guard measurements.count > 1, standardDeviation.isDrawable, plot.x.contains(median) else {
      return
    }
    let x = plot.x.position(of: median)
    let y = plot.area.top + 14
    drawing.line((x, y), (x, plot.area.bottom), stroke: .mark, isDashed: true)
    let ends = [median - standardDeviation, median + standardDeviation].map(plot.x.position(of:))
    drawing.line((ends[0], y), (ends[1], y), stroke: .mark, width: 2)
    for end in ends { drawing.line((end, y - 5), (end, y + 5), stroke: .mark, width: 2) }
    drawing.dot(at: (x, y), radius: 4, fill: .mark)
  }
}

/// The number of values in each bin. The centres of the bins are round values.
struct Histogram {
  let counts: [Int]
  private let first: Int
  private let width: Double

  /// Counts the drawable values. There are no bins if there are none.
  init(_ values: [Double]) {
    let values = values.filter(\.isDrawable)
    guard let minimum = values.min(), let greatest = values.max() else {
      (first, width, counts) = (0, 1, [])
      return
    }
    // Few values need few bins, and more than 24 bins are no clearer.
    let target = min(max(2 * Double(values.count).squareRoot(), 8), 24).rounded()
    // Bins are no narrower than an axis can show. Equal values share one bin with a width of 0.01.
    let finest = max(minimum.magnitude, greatest.magnitude, 1) * 1e-7
    let spread = greatest > minimum ? (greatest - minimum) / target : 0.01
    let width = RoundStep(atLeast: max(spread, finest)).value
    let places = values.map { Int(rounding: $0 / width) }
    let first = places.min() ?? 0
    var counts = [Int](repeating: 0, count: (places.max() ?? 0) - first + 1)
    for place in places { counts[place - first] += 1 }
    (self.first, self.width, self.counts) = (first, width, counts)
  }

  /// Returns the value at which bin `index` begins and the previous one ends.
  func edge(_ index: Int) -> Double { (Double(first + index) - 0.5) * width }
}

/// The panel with the parts of the round trip: the unit's buffers, and driver, converters and wire.
struct BreakdownPanel {
  let bufferFrames: Double
  let roundTripFrames: Double
  let claimedFrames: Double?
  let rate: FrameRate

  func draw(in frame: Rectangle, on drawing: inout SVGDrawing) {
    let panel = Panel(frame: frame)
    panel.draw(title: "Where the time goes", caption: caption, on: &drawing)
    guard bufferFrames.isDrawable, externalFrames.isDrawable,
      !(bufferFrames == 0 && roundTripFrames == 0)
    else { return panel.drawNothingMeasured(on: &drawing) }
    drawFigures(in: frame.inset(left: 18, top: 44, right: 18), on: &drawing)
    let area = frame.inset(left: 18, top: 120, right: 62, bottom: 38)
    let plot = Plot(
      area: area,
      x: Axis(
        covering: [0, bufferFrames, roundTripFrames, claimedFrames ?? 0], start: area.left,
        end: area.right),
      y: Axis(covering: [0, 1], start: area.bottom, end: area.top))
    plot.drawTimes(rate, on: &drawing)
    for (start, end, paint) in [
      (0, bufferFrames, Paint.signal), (bufferFrames, roundTripFrames, .external),
    ] {
      // A negative part overlaps the previous one. It is drawn over it, with less height.
      let top = area.top + (end < start ? 18 : 6)
      drawing.rectangle(
        Rectangle(
          from: plot.x.position(of: start), to: plot.x.position(of: end), top: top,
          height: area.bottom - 6 - top),
        fill: paint)
    }
    drawClaim(in: plot, on: &drawing)
  }

  private var externalFrames: Double { roundTripFrames - bufferFrames }

  private var caption: String {
    guard let claimedFrames, claimedFrames.isDrawable, roundTripFrames.isDrawable else { return "" }
    let difference = roundTripFrames - claimedFrames
    guard abs(difference) >= 0.005 else { return "measured: as ALSA claims" }
    let word = difference < 0 ? "less" : "more"
    return "measured: \(rate.frames(abs(difference))) \(word) than ALSA claims"
  }

  /// Draws the legend, with the figure of each part.
  private func drawFigures(in area: Rectangle, on drawing: inout SVGDrawing) {
    let figures: [(name: String, frames: Double?, paint: Paint)] = [
      ("unit\u{2019}s buffers", bufferFrames, .signal),
      ("driver, converters, wire", externalFrames, .external),
      ("ALSA\u{2019}s claim", claimedFrames, .ink),
    ]
    let width = area.width / 3
    for (index, figure) in figures.enumerated() {
      guard let frames = figure.frames else { continue }
      let left = area.left + Double(index) * width
      if figure.paint == .ink {
        drawing.diamond(at: (left + 6, area.top + 11), fill: .ink)
      } else {
        drawing.rectangle(
          Rectangle(left: left, top: area.top + 5, width: 12, height: 12), fill: figure.paint,
          cornerRadius: 2)
      }
      for (text, y, style) in [
        (figure.name, 15.0, TextStyle.caption), (rate.span(frames), 33, .value),
      ] {
        drawing.text(text, at: (left + 20, area.top + y), style, width: width - 24)
      }
    }
  }

  private func drawClaim(in plot: Plot, on drawing: inout SVGDrawing) {
    guard let claimedFrames, plot.x.contains(claimedFrames) else { return }
    let x = plot.x.position(of: claimedFrames)
    drawing.group("claim", tooltip: "ALSA claims \(rate.span(claimedFrames))") { drawing in
      // The wider line below separates the mark from the bars.
      for (paint, width) in [(Paint.card, 6.0), (.ink, 2)] {
        drawing.line((x, plot.area.top), (x, plot.area.bottom), stroke: paint, width: width)
      }
      drawing.diamond(at: (x, plot.area.top), fill: .ink)
    }
  }
}
