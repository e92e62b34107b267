/// The trials below one another, in columns under common scales.
struct TrialChart: Sendable {
  let trials: [TunePicture.Trial]
  let chosen: Int?
  let loadLimit: Double
  let rate: FrameRate
  let frame: Rectangle

  static let rowHeight = 32.0
  private static let headHeight = 66.0
  private static let footHeight = 36.0

  /// Height of the card for so many trials, in pixels.
  static func height(trials count: Int) -> Double {
    count == 0 ? 180 : headHeight + Double(count) * rowHeight + footHeight
  }

  func draw(on canvas: inout SVGCanvas) {
    canvas.rectangle(frame, fill: .card, stroke: .border, cornerRadius: 8)
    guard !trials.isEmpty else {
      return Panel(frame: frame).drawNothingMeasured(on: &canvas)
    }
    let (latency, load) = (latency, load)
    drawHighlight(on: &canvas)
    columns.drawNames(
      baseline: frame.top + 26, isLogarithmic: latency.isLogarithmic, on: &canvas)
    drawScale(latency, label: \.label, on: &canvas)
    drawScale(load, label: { $0.label + " %" }, on: &canvas)
    for (index, trial) in trials.enumerated() {
      TrialRow(
        number: index + 1, text: TrialText(trial: trial, rate: rate), isChosen: index == chosen,
        middle: rows.top + (Double(index) + 0.5) * Self.rowHeight
      ).draw(latency: latency, load: load, columns: columns, on: &canvas)
    }
    drawLoadLimit(along: load, on: &canvas)
  }

  private var rows: Rectangle { frame.inset(top: Self.headHeight, bottom: Self.footHeight) }

  private var columns: TrialColumns { TrialColumns(left: frame.left, right: frame.right) }

  /// In frames; of equal ratios where the longest bar would make the shortest vanish.
  private var latency: Axis {
    let spans = trials.map(\.latencyFrames).filter { $0.isDrawable && $0 > 0 }
    let least = spans.min() ?? 1
    let isLogarithmic = (spans.max() ?? 1) > 16 * least
    // A scale of ratios has no zero: it begins where the shortest bar still has a length.
    return Axis(
      covering: [isLogarithmic ? least / 2 : 0] + spans, start: columns.latency.lowerBound,
      end: columns.latency.upperBound, isLogarithmic: isLogarithmic)
  }

  /// In percent. Beyond twice the period a bar is cut: how much too late matters little.
  private var load: Axis {
    let shares = ([1, loadLimit] + trials.map(\.loadMax)).filter(\.isDrawable)
    return Axis(
      covering: [0] + shares.map { min(max($0, 0), 2) * 100 }, start: columns.load.lowerBound,
      end: columns.load.upperBound)
  }

  private func drawHighlight(on canvas: inout SVGCanvas) {
    guard let chosen, trials.indices.contains(chosen) else { return }
    let top = rows.top + Double(chosen) * Self.rowHeight
    canvas.rectangle(
      Rectangle(left: frame.left + 1, top: top, width: frame.width - 2, height: Self.rowHeight),
      fill: .highlight)
    canvas.rectangle(
      Rectangle(left: frame.left + 1, top: top, width: 4, height: Self.rowHeight), fill: .signal)
  }

  private func drawScale(_ axis: Axis, label: (Tick) -> String, on canvas: inout SVGCanvas) {
    for tick in axis.ticks() {
      canvas.line(
        from: Point(x: tick.position, y: rows.top - 4),
        to: Point(x: tick.position, y: rows.bottom), stroke: .grid)
      canvas.text(
        label(tick), at: Point(x: tick.position, y: rows.top - 10), .tick, anchor: .middle)
    }
    canvas.line(
      from: Point(x: axis.start, y: rows.top - 4), to: Point(x: axis.start, y: rows.bottom),
      stroke: .border)
  }

  private func drawLoadLimit(along load: Axis, on canvas: inout SVGCanvas) {
    guard loadLimit.isDrawable, load.contains(loadLimit * 100) else { return }
    let x = load.position(of: loadLimit * 100)
    canvas.group("limit", tooltip: "load limit \(TrialText.percent(loadLimit))") { canvas in
      canvas.line(
        from: Point(x: x, y: rows.top), to: Point(x: x, y: rows.bottom + 6), stroke: .mark,
        width: 1.5, isDashed: true)
      canvas.text(
        "limit \(TrialText.percent(loadLimit))", at: Point(x: x, y: rows.bottom + 20), .mark,
        anchor: .middle)
    }
  }
}
