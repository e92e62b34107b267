/// How two clocks come together after one of them jumped, as a picture: the error of the delay and
/// that of the ratio over time.
///
/// Values that are no finite number are left out; without any it says "nothing measured".
public struct LockPicture: Sendable {
  /// One moment of it.
  public struct Moment: Sendable {
    /// Seconds since the jump; less than 0 before it.
    public var seconds: Double
    /// Frames by which the delay is too long.
    public var delayError: Double
    /// Parts per million by which the ratio is too high.
    public var ratioErrorPPM: Double

    /// A moment with these errors.
    public init(seconds: Double, delayError: Double, ratioErrorPPM: Double) {
      self.seconds = seconds
      self.delayError = delayError
      self.ratioErrorPPM = ratioErrorPPM
    }
  }

  /// What jumped, as "A step of 100 ppm".
  public var title: String
  /// Under what conditions.
  public var subtitle: String
  /// Within how many seconds both must have settled.
  public var lockSeconds: Double
  /// The moments in the order of time.
  public var moments: [Moment]

  /// A picture of these moments.
  public init(title: String, subtitle: String, lockSeconds: Double, moments: [Moment]) {
    self.title = title
    self.subtitle = subtitle
    self.lockSeconds = lockSeconds
    self.moments = moments
  }

  /// The picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    var canvas = SVGCanvas()
    let page = Rectangle(left: 0, top: 0, width: 960, height: 720)
    let area = page.inset(left: 24, right: 24, bottom: 24)
    header.draw(in: area, on: &canvas)
    let first = Rectangle(
      left: area.left, top: PageHeader.height, width: area.width, height: 298)
    var second = first
    second.top = first.bottom + 16
    panel("Error of the delay", "frames", \.delayError).draw(in: Panel(frame: first), on: &canvas)
    panel("Error of the ratio", "ppm", \.ratioErrorPPM).draw(in: Panel(frame: second), on: &canvas)
    return canvas.document(title: title, width: page.width, height: page.height)
  }

  private func panel(
    _ title: String, _ unit: String, _ value: (Moment) -> Double
  ) -> LockPanel {
    LockPanel(
      title: title, unit: unit, lockSeconds: lockSeconds,
      values: moments.map { (x: $0.seconds, y: value($0)) }
        .filter { $0.x.isDrawable && $0.y.isDrawable })
  }

  private var header: PageHeader {
    let settled = moments.filter { $0.seconds > lockSeconds }
    let largest = { (value: (Moment) -> Double) in settled.map { abs(value($0)) }.max() ?? 0 }
    return PageHeader(
      title: title, subtitle: subtitle,
      headline: settled.isEmpty
        ? "nothing measured"
        : NumberText.shortest(largest(\.ratioErrorPPM), decimals: 2) + " ppm",
      detail: settled.isEmpty
        ? ""
        : "and " + NumberText.shortest(largest(\.delayError), decimals: 2)
          + " frames at most, after \(NumberText.shortest(lockSeconds, decimals: 0)) s")
  }
}

/// An error over time, cut off where it is too large for what matters to be seen.
struct LockPanel {
  let title: String
  let unit: String
  let lockSeconds: Double
  let values: [(x: Double, y: Double)]
  /// The scale reaches that far, up and down, and an error of 1 is marked.
  private let reach = 4.0

  func draw(in panel: Panel, on canvas: inout SVGCanvas) {
    let largest = values.map { abs($0.y) }.max() ?? 0
    let peak = NumberText.shortest(largest, decimals: 1) + " " + unit
    let caption =
      largest > reach ? "at most \(peak), cut off at \(Int(clamping: reach))" : "at most \(peak)"
    panel.draw(title: "\(title), \(unit)", caption: values.isEmpty ? "" : caption, on: &canvas)
    guard !values.isEmpty else { return panel.drawNothingMeasured(on: &canvas) }
    let area = panel.frame.inset(left: 60, top: 46, right: 44, bottom: 38)
    let plot = Plot(
      area: area,
      x: Axis(covering: values.map(\.x), start: area.left, end: area.right),
      y: Axis(covering: [-reach, reach], start: area.bottom, end: area.top))
    plot.drawLevels(plot.y.verticalTicks(), on: &canvas)
    plot.drawTimes(unit: "s", on: &canvas)
    for limit in [-1.0, 1] {
      canvas.horizontal(
        at: plot.y.position(of: limit), of: area, stroke: .stable, isDashed: true)
    }
    plot.drawMark(at: 0, "the step", on: &canvas)
    plot.drawMark(
      at: lockSeconds, NumberText.shortest(lockSeconds, decimals: 0) + " s", on: &canvas)
    canvas.curve(plot.points(of: values), stroke: .signal, width: 1.3)
  }
}
