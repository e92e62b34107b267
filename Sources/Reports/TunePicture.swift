/// A search for the lowest latency that holds, as a picture: one row a trial.
///
/// Values that are no finite number are left out; without trials it says "nothing measured".
public struct TunePicture: Sendable {
  /// One setting that was tried, and how it went.
  public struct Trial: Sendable {
    /// Frames a period.
    public var periodFrames: Int
    /// Frames queued ahead of the output.
    public var headroomFrames: Int
    /// How long it ran, in seconds.
    public var seconds: Double
    /// How often frames were lost.
    public var xruns: Int
    /// The longest cycle's share of its period: 1 is all of it, more is too late.
    public var loadMax: Double
    /// Whether the setting held.
    public var isStable: Bool

    /// A trial with these settings and this outcome.
    public init(
      periodFrames: Int, headroomFrames: Int, seconds: Double, xruns: Int, loadMax: Double,
      isStable: Bool
    ) {
      self.periodFrames = periodFrames
      self.headroomFrames = headroomFrames
      self.seconds = seconds
      self.xruns = xruns
      self.loadMax = loadMax
      self.isStable = isStable
    }
  }

  /// What was tuned, as "hw:USB to hw:USB".
  public var title: String
  /// How it was tuned: the rate, what was varied.
  public var subtitle: String
  /// Frames a second.
  public var sampleRate: Int
  /// The trials in the order they were made.
  public var trials: [Trial]
  /// Which of the trials was chosen, from 0; nil when none was.
  public var chosen: Int?
  /// The load that a stable setting stays below, as a share of the period.
  public var loadLimit: Double

  /// A picture of these trials.
  public init(
    title: String, subtitle: String, sampleRate: Int, trials: [Trial], chosen: Int?,
    loadLimit: Double
  ) {
    self.title = title
    self.subtitle = subtitle
    self.sampleRate = sampleRate
    self.trials = trials
    self.chosen = chosen
    self.loadLimit = loadLimit
  }
}

extension TunePicture.Trial {
  /// From input to output, in frames.
  var latencyFrames: Double { Double(periodFrames) + Double(headroomFrames) }
}

extension TunePicture {
  /// The picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    var canvas = SVGCanvas()
    let chart = TrialChart.height(trials: trials.count)
    let page = Rectangle(left: 0, top: 0, width: 960, height: PageHeader.height + chart + 24)
    let area = page.inset(left: 24, right: 24, bottom: 24)
    header.draw(in: area, on: &canvas)
    TrialChart(
      trials: trials, chosen: chosen, loadLimit: loadLimit, rate: rate,
      frame: area.inset(top: PageHeader.height)
    ).draw(on: &canvas)
    return canvas.document(title: title, width: page.width, height: page.height)
  }

  /// A complete HTML page, with the picture inside and its figures as a table.
  public func html() -> String {
    HTMLPage(
      title: title, picture: svg(),
      columns: [
        "Trial", "Period", "Headroom", "Latency", "Highest load", "Xruns", "Time", "Verdict",
      ], rows: rows
    ).text
  }

  private var rate: FrameRate { FrameRate(sampleRate) }

  private var header: PageHeader {
    guard let chosen, trials.indices.contains(chosen) else {
      let verdict = trials.isEmpty ? "nothing measured" : "none chosen"
      return PageHeader(title: title, subtitle: subtitle, headline: verdict, detail: "")
    }
    let trial = trials[chosen]
    let text = TrialText(trial: trial, rate: rate)
    return PageHeader(
      title: title, subtitle: subtitle, headline: rate.milliseconds(trial.latencyFrames),
      detail: "period \(trial.periodFrames), headroom \(trial.headroomFrames), load \(text.load)")
  }

  private var rows: [[String]] {
    trials.enumerated().map { index, trial in
      let text = TrialText(trial: trial, rate: rate)
      return [
        "\(index + 1)", "\(trial.periodFrames)", "\(trial.headroomFrames)", text.latency,
        text.load, "\(trial.xruns)", text.seconds,
        text.verdict + (index == chosen ? ", chosen" : ""),
      ]
    }
  }
}

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

  /// Height of the card for `count` trials, in pixels.
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

/// A trial's figures as text.
struct TrialText: Sendable {
  let trial: TunePicture.Trial
  let rate: FrameRate

  var setting: String { "\(trial.periodFrames) + \(trial.headroomFrames)" }

  /// "128 frames, 2.667 ms"
  var latency: String {
    guard trial.latencyFrames.isDrawable else { return "not measured" }
    return rate.frames(trial.latencyFrames) + ", " + rate.milliseconds(trial.latencyFrames)
  }

  var load: String { Self.percent(trial.loadMax) }

  var seconds: String {
    guard trial.seconds.isDrawable else { return "\u{2013}" }
    return NumberText.shortest(trial.seconds, decimals: 1) + " s"
  }

  var verdict: String { trial.isStable ? "stable" : "refused" }

  static func percent(_ share: Double) -> String {
    guard share.isDrawable else { return "\u{2013}" }
    return NumberText.fixed(share * 100, decimals: 0) + " %"
  }
}
