/// The room of a curve or of bars, with its scales: frames below, milliseconds above.
struct Plot: Sendable {
  let area: Rectangle
  /// In frames.
  let x: Axis
  let y: Axis

  func point(_ x: Double, _ y: Double) -> Point {
    Point(x: self.x.position(of: x), y: self.y.position(of: y))
  }

  /// Draws the grid and the labels of all three scales.
  func drawScales(rate: FrameRate, yTicks: [Tick], on canvas: inout SVGCanvas) {
    for tick in yTicks {
      canvas.line(
        from: Point(x: area.left, y: tick.position), to: Point(x: area.right, y: tick.position),
        stroke: .grid)
      canvas.text(
        tick.label, at: Point(x: area.left - 9, y: tick.position + 4), .tick, anchor: .end)
    }
    drawTimeScales(rate: rate, on: &canvas)
  }

  /// Draws the grid and the labels of the scales below and above.
  func drawTimeScales(rate: FrameRate, on canvas: inout SVGCanvas) {
    let frames = x.ticks()
    for tick in frames {
      canvas.line(
        from: Point(x: tick.position, y: area.top), to: Point(x: tick.position, y: area.bottom),
        stroke: .grid)
    }
    drawLabels(frames, unit: "frames", baseline: area.bottom + 18, on: &canvas)
    let milliseconds = x.converted(by: rate.millisecondsPerFrame).ticks()
    for tick in milliseconds {
      canvas.line(
        from: Point(x: tick.position, y: area.top - 4), to: Point(x: tick.position, y: area.top),
        stroke: .muted)
    }
    drawLabels(milliseconds, unit: "ms", baseline: area.top - 9, on: &canvas)
    for y in [area.top, area.bottom] {
      canvas.line(
        from: Point(x: area.left, y: y), to: Point(x: area.right, y: y), stroke: .border)
    }
  }

  /// The labels in a row that ends with their unit, which a label too close makes way for.
  private func drawLabels(
    _ ticks: [Tick], unit: String, baseline: Double, on canvas: inout SVGCanvas
  ) {
    let end = area.right + 44
    canvas.text(unit, at: Point(x: end, y: baseline), .tick, anchor: .end)
    let free = end - TextStyle.tick.width(of: unit) - 6
    for tick in ticks where tick.position + TextStyle.tick.width(of: tick.label) / 2 < free {
      canvas.text(tick.label, at: Point(x: tick.position, y: baseline), .tick, anchor: .middle)
    }
  }
}
