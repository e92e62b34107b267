/// A card with a title, and room for one drawing.
struct Panel {
  let frame: Rectangle

  /// The room for a plot, with margins for scales on the left, above and below.
  var plot: Rectangle { frame.inset(left: 60, top: 70, right: 62, bottom: 38) }

  /// Draws the card, its title, and a short caption on the right.
  func draw(title: String, caption: String, on drawing: inout SVGDrawing) {
    drawing.rectangle(frame, fill: .card, stroke: .border, cornerRadius: 8)
    let baseline = frame.top + 27
    drawing.text(title, at: (frame.left + 18, baseline), .panelTitle)
    drawing.text(
      caption, at: (frame.right - 18, baseline), .caption, anchor: .end,
      width: frame.width - TextStyle.panelTitle.width(of: title) - 54)
  }

  /// Draws a message in the middle of the card that there is nothing to draw.
  func drawNothingMeasured(on drawing: inout SVGDrawing) {
    let middle = (frame.left + frame.width / 2, frame.top + frame.height / 2 + 18)
    drawing.text("nothing measured", at: middle, .subtitle, anchor: .middle)
  }
}

/// The area of a curve or of bars, with its scales.
struct Plot {
  let area: Rectangle
  let x: Axis
  let y: Axis

  func point(_ x: Double, _ y: Double) -> Point {
    (self.x.position(of: x), self.y.position(of: y))
  }

  /// Draws the grid and the labels of the scale on the left.
  func drawLevels(_ ticks: [Tick], on drawing: inout SVGDrawing) {
    for tick in ticks {
      drawing.line((area.left, tick.position), (area.right, tick.position), stroke: .grid)
      drawing.text(tick.label, at: (area.left - 9, tick.position + 4), .tick, anchor: .end)
    }
  }

  /// Draws the grid and the labels of the scale below, in seconds or, with `rate`, in frames. With
  /// `rate`, a scale in milliseconds is above.
  func drawTimes(_ rate: FrameRate?, on drawing: inout SVGDrawing) {
    let ticks = x.ticks()
    for tick in ticks {
      drawing.line((tick.position, area.top), (tick.position, area.bottom), stroke: .grid)
    }
    drawLabels(ticks, unit: rate == nil ? "s" : "frames", baseline: area.bottom + 18, on: &drawing)
    guard let rate else { return }
    let milliseconds = x.converted(by: rate.millisecondsPerFrame).ticks()
    for tick in milliseconds {
      drawing.line((tick.position, area.top - 4), (tick.position, area.top), stroke: .muted)
    }
    drawLabels(milliseconds, unit: "ms", baseline: area.top - 9, on: &drawing)
    for y in [area.top, area.bottom] {
      drawing.line((area.left, y), (area.right, y), stroke: .border)
    }
  }

  /// Draws the labels in a row that ends with their unit. Labels too close to the unit are omitted.
  private func drawLabels(
    _ ticks: [Tick], unit: String, baseline: Double, on drawing: inout SVGDrawing
  ) {
    let end = area.right + 44
    drawing.text(unit, at: (end, baseline), .tick, anchor: .end)
    let free = end - TextStyle.tick.width(of: unit) - 6
    for tick in ticks where tick.position + TextStyle.tick.width(of: tick.label) / 2 < free {
      drawing.text(tick.label, at: (tick.position, baseline), .tick, anchor: .middle)
    }
  }

  /// Returns the points to draw of `values`, which must be sorted by x: the lowest and the highest
  /// of each column of pixels, in their order.
  ///
  /// No peak is missed, however many values share a column.
  func points(of values: [Point]) -> [Point] {
    var columns: [(number: Int, lowest: Point, highest: Point)] = []
    for value in values {
      let point = point(value.x, value.y)
      let number = Int(clamping: point.x)
      if let column = columns.last, column.number == number {
        // Pixels are counted downwards.
        if point.y > column.lowest.y { columns[columns.count - 1].lowest = point }
        if point.y < column.highest.y { columns[columns.count - 1].highest = point }
      } else {
        columns.append((number, point, point))
      }
    }
    return columns.flatMap { _, lowest, highest in
      lowest.y == highest.y ? [lowest] : [lowest, highest].sorted { $0.x < $1.x }
    }
  }
}

/// A card with a curve over time.
struct CurvePanel {
  let title: String
  let caption: String
  /// The points of the curve, sorted by x.
  let curve: [Point]
  /// The values that the scale of x covers.
  let times: [Double]
  /// The values that the scale of y covers. The curve is limited to them.
  let levels: [Double]
  /// The levels marked by a dashed line.
  var limits: [Double] = []
  /// The class name of the marks in the picture.
  var markName = "mark"
  let marks: [Mark]
  /// The frame rate if x is in frames, or nil if it is in seconds.
  let rate: FrameRate?

  /// A marked time.
  struct Mark {
    let time: Double
    let label: String
    let tooltip: String
  }

  func draw(in frame: Rectangle, on drawing: inout SVGDrawing) {
    let panel = Panel(frame: frame)
    panel.draw(title: title, caption: caption, on: &drawing)
    guard !times.isEmpty else { return panel.drawNothingMeasured(on: &drawing) }
    let area = panel.plot
    let x = Axis(covering: times, start: area.left, end: area.right)
    let labels = MarkLabels(marks.filter { x.contains($0.time) }, along: x)
    // The top of the plot is reserved for labels. The curve stays below.
    let y = Axis(covering: levels, start: area.bottom - 6, end: area.top + labels.height)
    let plot = Plot(area: area, x: x, y: y)
    if !curve.isEmpty { plot.drawLevels(y.verticalTicks(), on: &drawing) }
    plot.drawTimes(rate, on: &drawing)
    for limit in limits.map(y.position(of:)) {
      drawing.line((area.left, limit), (area.right, limit), stroke: .stable, isDashed: true)
    }
    labels.draw(in: area, markName: markName, on: &drawing)
    drawing.curve(plot.points(of: curve), stroke: .signal, width: 1.4)
  }
}

/// Marks on an axis, and their labels in rows without overlap.
struct MarkLabels {
  /// A mark with its label's row, counted from the top, or nil if no row had room.
  private typealias Placed = (
    mark: CurvePanel.Mark, x: Double, row: Int?, anchor: TextStyle.Anchor
  )

  private var placed: [Placed] = []

  init(_ marks: [CurvePanel.Mark], along axis: Axis) {
    var rightEnds = [Double](repeating: -.infinity, count: 3)
    for mark in marks.sorted(by: { $0.time < $1.time }) {
      let x = axis.position(of: mark.time)
      let width = TextStyle.mark.width(of: mark.label) + 8
      let isLast = x + width > axis.end
      let left = isLast ? x - width : x
      let row = rightEnds.firstIndex { $0 < left }
      if let row { rightEnds[row] = left + width }
      placed.append((mark, x, row, isLast ? .end : .start))
    }
  }

  /// The height in pixels that the labels need above the curve.
  var height: Double {
    placed.isEmpty ? 6 : 27 + 15 * Double(placed.compactMap(\.row).max() ?? 0)
  }

  func draw(in area: Rectangle, markName: String, on drawing: inout SVGDrawing) {
    let top = area.top
    for (mark, x, _, _) in placed {
      drawing.group(markName, tooltip: mark.tooltip) {
        $0.line((x, top), (x, area.bottom), stroke: .mark, isDashed: true)
        $0.polygon([(x - 5, top), (x + 5, top), (x, top + 8)], fill: .mark)
      }
    }
    for (mark, x, row, anchor) in placed {
      guard let row else { continue }
      let place = (x + (anchor == .end ? -7 : 7), top + 16 + 15 * Double(row))
      drawing.text(mark.label, at: place, .mark, anchor: anchor, hasHalo: true)
    }
  }
}
