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
    plot.drawScales(rate: rate, yTicks: plot.y.verticalTicks(), on: &canvas)
    drawRoundTrip(in: plot, on: &canvas)
    canvas.curve(curve.points(in: plot), stroke: .signal, width: 1.8)
  }

  private func drawRoundTrip(in plot: Plot, on canvas: inout SVGCanvas) {
    guard plot.x.contains(roundTripFrames) else { return }
    let x = plot.x.position(of: roundTripFrames)
    canvas.line(
      from: Point(x: x, y: plot.area.top), to: Point(x: x, y: plot.area.bottom), stroke: .mark,
      isDashed: true)
    let label = rate.frames(roundTripFrames, decimals: 3)
    let isLeft = x + TextStyle.mark.width(of: label) + 7 > plot.area.right
    canvas.text(
      label, at: Point(x: x + (isLeft ? -7 : 7), y: plot.area.top + 15), .mark,
      anchor: isLeft ? .end : .start, hasHalo: true)
  }
}
