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

extension LatencyPicture {
  /// The picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    var canvas = SVGCanvas()
    let page = Rectangle(left: 0, top: 0, width: 960, height: 894)
    let area = page.inset(left: 24, top: 0, right: 24, bottom: 24)
    header.draw(in: area, on: &canvas)

    let top = area.inset(top: PageHeader.height)
    let half = (area.width - 16) / 2
    let impulse = Rectangle(left: area.left, top: top.top, width: area.width, height: 290)
    let correlation = Rectangle(
      left: area.left, top: impulse.bottom + 16, width: half, height: 270)
    var repeats = correlation
    repeats.left += half + 16
    let breakdown = area.inset(top: correlation.bottom + 16)

    ImpulseResponsePanel(
      curve: SampledCurve(samples: impulseResponse, first: impulseFirstFrame, step: 1),
      arrivals: arrivals, rate: rate
    ).draw(in: Panel(frame: impulse), on: &canvas)
    CorrelationPanel(
      curve: SampledCurve(
        samples: self.correlation, first: correlationFirstFrame, step: correlationStepFrames),
      roundTripFrames: roundTripFrames, rate: rate
    ).draw(in: Panel(frame: correlation), on: &canvas)
    HistogramPanel(
      measurements: measurements, median: roundTripFrames,
      standardDeviation: standardDeviationFrames, rate: rate
    ).draw(in: Panel(frame: repeats), on: &canvas)
    BreakdownPanel(
      bufferFrames: bufferFrames, externalFrames: externalFrames, claimedFrames: claimedFrames,
      rate: rate
    ).draw(in: Panel(frame: breakdown), on: &canvas)
    return canvas.document(title: title, width: page.width, height: page.height)
  }

  /// A complete HTML page, with the picture inside and its figures as a table.
  public func html() -> String {
    HTMLPage(
      title: title, picture: svg(), columns: ["", "frames", "ms"], rows: figures
    ).text
  }

  private var rate: FrameRate { FrameRate(sampleRate) }

  /// No sound arrives before it was sent, nor with it: then nothing was measured.
  /// A recording may even be early, but no round trip without a measurement takes no time.
  private var hasRoundTrip: Bool {
    roundTripFrames.isDrawable && (roundTripFrames > 0 || !measurements.isEmpty)
  }

  /// A single measurement deviates from nothing.
  private var hasDeviation: Bool {
    hasRoundTrip && measurements.count > 1 && standardDeviationFrames.isDrawable
  }

  private var header: PageHeader {
    let decimals = NumberText.decimals(for: standardDeviationFrames)
    let deviation =
      hasDeviation
      ? " \u{B1} " + NumberText.shortest(standardDeviationFrames, decimals: decimals) : ""
    let median = NumberText.shortest(roundTripFrames, decimals: decimals)
    return PageHeader(
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
      let text = [
        NumberText.shortest(frames, decimals: 4),
        NumberText.shortest(frames * rate.millisecondsPerFrame, decimals: 6),
      ]
      return [name] + (frames.isDrawable ? text.map(NumberText.typeset) : ["\u{2013}", "\u{2013}"])
    }
  }
}

/// The peak of the correlation, close up, with a mark at the round trip.
struct CorrelationPanel: Sendable {
  let curve: SampledCurve
  let roundTripFrames: Double
  let rate: FrameRate

  func draw(in panel: Panel, on canvas: inout SVGCanvas) {
    let range = curve.range
    let caption = range.map { peak in
      "peak " + NumberText.typeset(NumberText.shortest(peak.upperBound, decimals: 3))
    }
    panel.draw(title: "Correlation peak", caption: caption ?? "", on: &canvas)
    guard let range else { return panel.drawNothingMeasured(on: &canvas) }
    let area = panel.plot
    let plot = Plot(
      area: area, x: Axis(covering: curve.bounds, start: area.left, end: area.right),
      y: Axis(
        covering: [0, range.lowerBound, range.upperBound], start: area.bottom - 6,
        end: area.top + 24))
    plot.drawLevels(plot.y.verticalTicks(), on: &canvas)
    plot.drawTimes(rate: rate, on: &canvas)
    plot.drawMark(
      at: roundTripFrames, rate.frames(roundTripFrames, decimals: 3), on: &canvas)
    canvas.curve(plot.points(of: curve.values), stroke: .signal, width: 1.8)
  }
}

/// Labels beside marks on an axis, in rows where none touches another.
struct ArrivalLabels: Sendable {
  /// A label with its mark; the row counts from the top, nil where no row had room.
  struct Label: Sendable {
    let lag: Double
    let position: Double
    let text: String
    let row: Int?
    let anchor: TextStyle.Anchor
  }

  static let rowHeight = 15.0
  private static let rowCount = 3

  let labels: [Label]

  /// How many rows carry a label.
  var rows: Int { labels.compactMap(\.row).reduce(0) { max($0, $1 + 1) } }

  init(lags: [Double], axis: Axis) {
    var rightEnds = [Double](repeating: -.infinity, count: Self.rowCount)
    labels = lags.filter(\.isDrawable).sorted().map { lag in
      let text = NumberText.typeset(NumberText.shortest(lag, decimals: 2))
      let position = axis.position(of: lag)
      let width = TextStyle.mark.width(of: text) + 8
      let isLast = position + width > max(axis.start, axis.end)
      let left = isLast ? position - width : position
      let row = rightEnds.firstIndex { $0 < left }
      if let row { rightEnds[row] = left + width }
      return Label(
        lag: lag, position: position, text: text, row: row, anchor: isLast ? .end : .start)
    }
  }
}
