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
    plot.drawTimeScales(rate: rate, on: &canvas)
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
        canvas.line(
          from: Point(x: x, y: plot.area.top), to: Point(x: x, y: plot.area.bottom),
          stroke: paint, width: width)
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
