/// A picture of two clocks that are synchronized again after one of them jumped: the errors of the
/// delay and of the ratio over time.
///
/// Drawn by the benchmark of the clocks (`Tests/Benchmarks`), not by the tool. Values that are not
/// finite numbers are left out. Without any, it shows "nothing measured".
public struct LockPicture: Sendable {
  /// The seconds since the jump, negative before it; the frames by which the delay is too long; and
  /// the parts per million by which the ratio is too high.
  public typealias Moment = (seconds: Double, delayError: Double, ratioErrorPPM: Double)

  /// The kind of jump, for example "A step of 100 ppm".
  public var title: String
  /// The conditions of the measurement.
  public var subtitle: String
  /// The seconds within which both errors must have settled.
  public var lockSeconds: Double
  /// The moments, sorted by time.
  public var moments: [Moment]

  /// Creates a picture of these moments.
  public init(title: String, subtitle: String, lockSeconds: Double, moments: [Moment]) {
    self.title = title
    self.subtitle = subtitle
    self.lockSeconds = lockSeconds
    self.moments = moments
  }

  /// Returns the picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    page.svg(height: 612) { drawing, area in
      let half = area.inset(bottom: area.height / 2 + 8)
      panel("Error of the delay", "frames") { $0.delayError }.draw(in: half, on: &drawing)
      panel("Error of the ratio", "ppm") { $0.ratioErrorPPM }
        .draw(in: area.inset(top: area.height / 2 + 8), on: &drawing)
    }
  }

  private var page: ReportPage {
    let settled = moments.filter { $0.seconds > lockSeconds }
    func largest(_ value: (Moment) -> Double) -> String {
      NumberText.shortest(settled.map { abs(value($0)) }.filter(\.isFinite).max() ?? 0, decimals: 2)
    }
    let isEmpty = settled.isEmpty
    return ReportPage(
      title: title, subtitle: subtitle,
      headline: isEmpty ? "nothing measured" : largest { $0.ratioErrorPPM } + " ppm",
      detail: isEmpty
        ? "" : "and \(largest { $0.delayError }) frames at most, after \(lockTime)")
  }

  private var lockTime: String { NumberText.shortest(lockSeconds, decimals: 0) + " s" }

  /// Returns the panel of an error over time. The scale is limited, so that small errors are
  /// visible.
  private func panel(_ title: String, _ unit: String, _ value: (Moment) -> Double) -> CurvePanel {
    let values = moments.map { Point(x: $0.seconds, y: value($0)) }
      .filter { $0.x.isDrawable && $0.y.isDrawable }
    let reach = 4.0
    let largest = values.map { abs($0.y) }.max() ?? 0
    let caption =
      "at most \(NumberText.shortest(largest, decimals: 1)) \(unit)"
      + (largest > reach ? ", cut off at \(Int(clamping: reach))" : "")
    return CurvePanel(
      title: "\(title), \(unit)", caption: values.isEmpty ? "" : caption, curve: values,
      times: values.map(\.x), levels: [-reach, reach], limits: [-1, 1],
      marks: [(0, "the step"), (lockSeconds, lockTime)].map {
        CurvePanel.Mark(time: $0, label: $1, tooltip: $1)
      }, rate: nil)
  }
}
