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
