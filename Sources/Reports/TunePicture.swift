/// A search for the lowest stable latency as a picture, with one row per trial.
///
/// Values that are not finite numbers are left out. Without trials it shows "nothing measured".
public struct TunePicture: Sendable {
  /// One setting that was tried, and its result.
  public struct Trial: Sendable {
    /// The frames of a period.
    public var periodFrames: Int
    /// The frames queued ahead of the output.
    public var headroomFrames: Int
    /// The frames that the synchronization of two clocks adds to both.
    public var addedFrames: Int
    /// The duration of the trial, in seconds.
    public var seconds: Double
    /// The number of times frames were lost.
    public var xruns: Int
    /// The load of the longest cycle as a fraction of its period. A load above 1 is too late.
    public var loadMax: Double
    /// Whether the setting was stable.
    public var isStable: Bool

    /// Creates a trial with these settings and this result.
    public init(
      periodFrames: Int, headroomFrames: Int, addedFrames: Int = 0, seconds: Double, xruns: Int,
      loadMax: Double, isStable: Bool
    ) {
      self.periodFrames = periodFrames
      self.headroomFrames = headroomFrames
      self.addedFrames = addedFrames
      self.seconds = seconds
      self.xruns = xruns
      self.loadMax = loadMax
      self.isStable = isStable
    }
  }

  /// The tuned devices, for example "hw:USB to hw:USB".
  public var title: String
  /// The conditions of the search: the rate, and the parameters that were varied.
  public var subtitle: String
  /// The rate in frames per second.
  public var sampleRate: Int
  /// The trials, in the order they were made.
  public var trials: [Trial]
  /// The index of the chosen trial, from 0, or nil if none was chosen.
  public var chosen: Int?
  /// The upper limit of the load of a stable setting, as a fraction of the period.
  public var loadLimit: Double

  /// Creates a picture of these trials.
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
  /// The latency from input to output, in frames.
  var latencyFrames: Double {
    Double(periodFrames) + Double(headroomFrames) + Double(addedFrames)
  }

  /// Returns text such as "128 frames, 2.667 ms".
  func latency(_ rate: FrameRate) -> String {
    guard latencyFrames.isDrawable else { return "not measured" }
    return rate.frames(latencyFrames) + ", " + rate.milliseconds(latencyFrames)
  }

  var load: String { Self.percent(loadMax) }

  var time: String {
    seconds.isDrawable ? NumberText.shortest(seconds, decimals: 1) + " s" : "\u{2013}"
  }

  var verdict: String { isStable ? "stable" : "refused" }

  static func percent(_ share: Double) -> String {
    share.isDrawable ? NumberText.fixed(share * 100, decimals: 0) + " %" : "\u{2013}"
  }
}

extension TunePicture {
  /// Returns the picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    page.svg(height: TrialChart.height(trials.count)) { drawing, area in
      TrialChart(self, frame: area).draw(on: &drawing)
    }
  }

  /// Returns a complete HTML page with the picture and a table of its figures.
  public func html() -> String {
    ReportPage.html(
      title: title, picture: svg(),
      columns: [
        "Trial", "Period", "Headroom", "Latency", "Highest load", "Xruns", "Time", "Verdict",
      ],
      rows: trials.enumerated().map { index, trial in
        [
          "\(index + 1)", "\(trial.periodFrames)", "\(trial.headroomFrames)", trial.latency(rate),
          trial.load, "\(trial.xruns)", trial.time,
          trial.verdict + (index == chosen ? ", chosen" : ""),
        ]
      })
  }

  var rate: FrameRate { FrameRate(sampleRate) }

  private var page: ReportPage {
    guard let chosen, trials.indices.contains(chosen) else {
      let verdict = trials.isEmpty ? "nothing measured" : "none chosen"
      return ReportPage(title: title, subtitle: subtitle, headline: verdict, detail: "")
    }
    let trial = trials[chosen]
    return ReportPage(
      title: title, subtitle: subtitle, headline: rate.milliseconds(trial.latencyFrames),
      detail: "period \(trial.periodFrames), headroom \(trial.headroomFrames), load \(trial.load)")
  }
}

/// The trials as rows, in columns under common scales.
struct TrialChart {
  private let picture: TunePicture
  private let frame: Rectangle
  /// The area of the rows, without names and scales above and the limit below.
  private let rows: Rectangle
  /// The scale in frames. It is logarithmic if the longest bar would make the shortest one vanish.
  private let latency: Axis
  /// The scale in percent.
  private let load: Axis

  private static let rowHeight = 32.0
  private static let (headHeight, footHeight) = (66.0, 36.0)

  /// Returns the height of the card for `count` trials, in pixels.
  static func height(_ count: Int) -> Double {
    count == 0 ? 180 : headHeight + Double(count) * rowHeight + footHeight
  }

  init(_ picture: TunePicture, frame: Rectangle) {
    self.picture = picture
    self.frame = frame
    rows = frame.inset(top: Self.headHeight, bottom: Self.footHeight)
    let spans = picture.trials.map(\.latencyFrames).filter { $0.isDrawable && $0 > 0 }
    let minimum = spans.min() ?? 1
    let isLogarithmic = (spans.max() ?? 1) > 16 * minimum
    latency = Axis(
      // A logarithmic scale has no zero. It begins at a value at which the shortest bar still has a
      // length.
      covering: [isLogarithmic ? minimum / 2 : 0] + spans, start: frame.left + 150,
      end: frame.right - 532, isLogarithmic: isLogarithmic)
    // A bar is limited to twice the period, because the exact lateness beyond that matters little.
    let shares = ([1, picture.loadLimit] + picture.trials.map(\.loadMax)).filter(\.isDrawable)
    load = Axis(
      covering: [0] + shares.map { min(max($0, 0), 2) * 100 }, start: frame.right - 354,
      end: frame.right - 262)
  }

  func draw(on drawing: inout SVGDrawing) {
    drawing.rectangle(frame, fill: .card, stroke: .border, cornerRadius: 8)
    guard !picture.trials.isEmpty else {
      return Panel(frame: frame).drawNothingMeasured(on: &drawing)
    }
    if let chosen = picture.chosen, picture.trials.indices.contains(chosen) {
      var row = frame.inset(left: 1, right: 1)
      (row.top, row.height) = (rows.top + Double(chosen) * Self.rowHeight, Self.rowHeight)
      drawing.rectangle(row, fill: .highlight)
      row.width = 4
      drawing.rectangle(row, fill: .signal)
    }
    drawRow(
      ["", "period + headroom", "", "xruns", "time"], Array(repeating: .caption, count: 5),
      baseline: frame.top + 26, on: &drawing)
    drawScale(
      latency, latency.isLogarithmic ? "latency in frames, logarithmic" : "latency in frames",
      on: &drawing)
    drawScale(load, "highest load", unit: " %", on: &drawing)
    drawing.text("verdict", at: (frame.right - 86, frame.top + 26), .caption)
    for (index, trial) in picture.trials.enumerated() { draw(trial, index, on: &drawing) }
    drawLoadLimit(on: &drawing)
  }

  /// Draws texts aligned to the right edges of their columns, each truncated to its column.
  private func drawRow(
    _ texts: [String], _ styles: [TextStyle], baseline: Double, on drawing: inout SVGDrawing
  ) {
    let (left, right) = (frame.left, frame.right)
    let columns = [
      (left + 32, 30.0), (left + 132, 130), (right - 208, 54), (right - 154, 44), (right - 104, 48),
    ]
    for (index, (x, width)) in columns.enumerated() where !texts[index].isEmpty {
      drawing.text(texts[index], at: (x, baseline), styles[index], anchor: .end, width: width)
    }
  }

  private func drawScale(
    _ axis: Axis, _ name: String, unit: String = "", on drawing: inout SVGDrawing
  ) {
    drawing.text(name, at: (axis.start, frame.top + 26), .caption)
    for tick in axis.ticks() {
      let x = tick.position
      drawing.line((x, rows.top - 4), (x, rows.bottom), stroke: .grid)
      drawing.text(tick.label + unit, at: (x, rows.top - 10), .tick, anchor: .middle)
    }
    drawing.line((axis.start, rows.top - 4), (axis.start, rows.bottom), stroke: .border)
  }

  /// Draws one trial: its setting, bars for latency and load, and the verdict with a sign.
  private func draw(_ trial: TunePicture.Trial, _ index: Int, on drawing: inout SVGDrawing) {
    let middle = rows.top + (Double(index) + 0.5) * Self.rowHeight
    var style = TextStyle.value
    style.isBold = index == picture.chosen
    drawRow(
      [
        "\(index + 1)", "\(trial.periodFrames) + \(trial.headroomFrames)", trial.load,
        "\(trial.xruns)", trial.time,
      ], [.tick, style, .caption, .value, .value], baseline: middle + 4.5, on: &drawing)
    let verdict: Paint = trial.isStable ? .stable : .refused
    for (value, axis, paint) in [
      (trial.latencyFrames, latency, verdict), (trial.loadMax * 100, load, .signal),
    ] where value.isDrawable {
      drawing.rectangle(
        Rectangle(from: axis.start, to: axis.position(of: value), top: middle - 8, height: 16),
        fill: paint, cornerRadius: 2)
    }
    let end =
      trial.latencyFrames.isDrawable ? latency.position(of: trial.latencyFrames) : latency.start
    drawing.text(
      trial.latency(picture.rate), at: (end + 7, middle + 4), .caption,
      width: load.start - end - 14)
    drawSign(trial, at: (frame.right - 79, middle), fill: verdict, on: &drawing)
    drawing.text(
      style.isBold ? "chosen" : trial.verdict, at: (frame.right - 65, middle + 4.5), style)
  }

  /// Draws a check mark or a cross as a shape, because not every font has them.
  private func drawSign(
    _ trial: TunePicture.Trial, at centre: Point, fill: Paint, on drawing: inout SVGDrawing
  ) {
    let strokes: [[Point]] =
      trial.isStable
      ? [[(-3.5, 0.3), (-1, 3), (3.7, -2.8)]]
      : [[(-2.8, -2.8), (2.8, 2.8)], [(-2.8, 2.8), (2.8, -2.8)]]
    drawing.group(trial.verdict, tooltip: trial.verdict) { drawing in
      drawing.dot(at: centre, radius: 8, fill: fill)
      for stroke in strokes {
        let points = stroke.map { Point(centre.x + $0.x, centre.y + $0.y) }
        drawing.curve(points, stroke: .card, width: 1.8)
      }
    }
  }

  private func drawLoadLimit(on drawing: inout SVGDrawing) {
    let limit = picture.loadLimit
    guard limit.isDrawable, load.contains(limit * 100) else { return }
    let x = load.position(of: limit * 100)
    let label = "limit " + TunePicture.Trial.percent(limit)
    drawing.group("limit", tooltip: "load " + label) {
      $0.line(
        (x, rows.top), (x, rows.bottom + 6), stroke: .mark, width: 1.5, isDashed: true)
      $0.text(label, at: (x, rows.bottom + 20), .mark, anchor: .middle)
    }
  }
}
