/// Where the columns of a chart of trials lie, in pixels from the picture's left edge.
struct TrialColumns: Sendable {
  /// The right edge of the number.
  let number: Double
  /// The right edge of the setting.
  let setting: Double
  let latency: ClosedRange<Double>
  let load: ClosedRange<Double>
  /// The right edge of the load in percent.
  let share: Double
  /// The right edge of the count of xruns.
  let xruns: Double
  /// The right edge of the duration.
  let seconds: Double
  /// The left edge of the sign.
  let verdict: Double

  init(left: Double, right: Double) {
    number = left + 32
    setting = left + 132
    latency = left + 150...right - 532
    load = right - 354...right - 262
    share = right - 208
    xruns = right - 154
    seconds = right - 104
    verdict = right - 86
  }

  func drawNames(baseline: Double, isLogarithmic: Bool, on canvas: inout SVGCanvas) {
    let names: [(text: String, x: Double, anchor: TextStyle.Anchor)] = [
      ("period + headroom", setting, .end),
      (
        isLogarithmic ? "latency in frames, logarithmic" : "latency in frames", latency.lowerBound,
        .start
      ),
      ("highest load", load.lowerBound, .start), ("xruns", xruns, .end), ("time", seconds, .end),
      ("verdict", verdict, .start),
    ]
    for name in names {
      canvas.text(name.text, at: Point(x: name.x, y: baseline), .caption, anchor: name.anchor)
    }
  }
}
