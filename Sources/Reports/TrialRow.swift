/// One trial: its setting, bars for latency and load, and the verdict with a sign.
struct TrialRow: Sendable {
  let number: Int
  let text: TrialText
  let isChosen: Bool
  /// The height of the row's middle, in pixels from the top.
  let middle: Double

  func draw(latency: Axis, load: Axis, columns: TrialColumns, on canvas: inout SVGCanvas) {
    let trial = text.trial
    var style = TextStyle.value
    style.isBold = isChosen
    let baseline = middle + 4.5
    canvas.text(
      "\(number)", at: Point(x: columns.number, y: baseline), .tick, anchor: .end, width: 30)
    canvas.text(
      text.setting, at: Point(x: columns.setting, y: baseline), style, anchor: .end, width: 96)
    let verdict: Paint = trial.isStable ? .stable : .refused
    let end = drawBar(to: trial.latencyFrames, axis: latency, fill: verdict, on: &canvas)
    canvas.text(
      text.latency, at: Point(x: end + 7, y: middle + 4), .caption,
      width: columns.load.lowerBound - end - 14)
    drawBar(to: trial.loadMax * 100, axis: load, fill: .signal, on: &canvas)
    canvas.text(
      text.load, at: Point(x: columns.share, y: middle + 4), .caption, anchor: .end)
    canvas.text(
      "\(trial.xruns)", at: Point(x: columns.xruns, y: baseline), .value, anchor: .end, width: 44)
    canvas.text(
      text.seconds, at: Point(x: columns.seconds, y: baseline), .value, anchor: .end, width: 48)
    let sign = Point(x: columns.verdict + 7, y: middle)
    canvas.group(text.verdict, tooltip: text.verdict) {
      Self.drawSign(isStable: trial.isStable, at: sign, fill: verdict, on: &$0)
    }
    canvas.text(
      isChosen ? "chosen" : text.verdict, at: Point(x: sign.x + 14, y: baseline), style)
  }

  /// Returns the pixel where the bar ends.
  @discardableResult
  private func drawBar(
    to value: Double, axis: Axis, fill: Paint, on canvas: inout SVGCanvas
  ) -> Double {
    let end = value.isDrawable ? axis.position(of: value) : axis.start
    canvas.rectangle(
      Rectangle(from: axis.start, to: end, top: middle - 8, height: 16), fill: fill,
      cornerRadius: 2)
    return end
  }

  /// A tick or a cross, drawn: not every font has them.
  private static func drawSign(
    isStable: Bool, at centre: Point, fill: Paint, on canvas: inout SVGCanvas
  ) {
    canvas.dot(at: centre, radius: 8, fill: fill)
    let strokes: [[(x: Double, y: Double)]] =
      isStable
      ? [[(-3.5, 0.3), (-1, 3), (3.7, -2.8)]]
      : [[(-2.8, -2.8), (2.8, 2.8)], [(-2.8, 2.8), (2.8, -2.8)]]
    for stroke in strokes {
      let points = stroke.map { Point(x: centre.x + $0.x, y: centre.y + $0.y) }
      canvas.curve(points, stroke: .card, width: 1.8)
    }
  }
}
