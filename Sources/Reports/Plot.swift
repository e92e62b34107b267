import Glibc

/// The room of a curve or of bars, with its scales: frames below, milliseconds above.
struct Plot: Sendable {
  let area: Rectangle
  /// In frames.
  let x: Axis
  let y: Axis

  func point(_ x: Double, _ y: Double) -> Point {
    Point(x: self.x.position(of: x), y: self.y.position(of: y))
  }

  /// Draws the grid and the labels of the scale on the left.
  func drawLevels(_ ticks: [Tick], on canvas: inout SVGCanvas) {
    for tick in ticks {
      canvas.horizontal(at: tick.position, of: area, stroke: .grid)
      canvas.text(
        tick.label, at: Point(x: area.left - 9, y: tick.position + 4), .tick, anchor: .end)
    }
  }

  /// Draws the grid and the labels of the scales below, in frames, and above, in milliseconds.
  func drawTimes(rate: FrameRate, on canvas: inout SVGCanvas) {
    drawTimes(unit: "frames", on: &canvas)
    let milliseconds = x.converted(by: rate.millisecondsPerFrame).ticks()
    for tick in milliseconds {
      canvas.vertical(at: tick.position, of: area.above(by: 4), stroke: .muted)
    }
    drawLabels(milliseconds, unit: "ms", baseline: area.top - 9, on: &canvas)
    for y in [area.top, area.bottom] { canvas.horizontal(at: y, of: area, stroke: .border) }
  }

  /// Draws the grid and the labels of the scale below.
  func drawTimes(unit: String, on canvas: inout SVGCanvas) {
    let ticks = x.ticks()
    for tick in ticks { canvas.vertical(at: tick.position, of: area, stroke: .grid) }
    drawLabels(ticks, unit: unit, baseline: area.bottom + 18, on: &canvas)
  }

  /// A dashed line at `value`, with `text` beside it: to the right where it has room.
  func drawMark(at value: Double, _ text: String, on canvas: inout SVGCanvas) {
    guard x.contains(value) else { return }
    let position = x.position(of: value)
    canvas.vertical(at: position, of: area, stroke: .mark, isDashed: true)
    let isLeft = position + TextStyle.mark.width(of: text) + 7 > area.right
    canvas.text(
      text, at: Point(x: position + (isLeft ? -7 : 7), y: area.top + 15), .mark,
      anchor: isLeft ? .end : .start, hasHalo: true)
  }

  /// The points to draw of `values`, which stand in the order of x: of each column of pixels the lowest
  /// and the highest, in their order.
  ///
  /// So no peak is missed, however many values share a column.
  func points(of values: some Sequence<(x: Double, y: Double)>) -> [Point] {
    var points: [Point] = []
    var column: (number: Int, least: Point, greatest: Point)?
    func finish() {
      guard let column else { return }
      let isRising = column.least.x <= column.greatest.x
      let pair = isRising ? [column.least, column.greatest] : [column.greatest, column.least]
      points += column.least.y == column.greatest.y ? [column.least] : pair
    }
    for value in values {
      let point = point(value.x, value.y)
      let number = Int(clamping: point.x)
      if column?.number != number {
        finish()
        column = (number, point, point)
      } else if let known = column {
        // Pixels are counted downwards.
        if point.y > known.least.y { column?.least = point }
        if point.y < known.greatest.y { column?.greatest = point }
      }
    }
    finish()
    return points
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

/// A card with a title, and room for one drawing.
struct Panel: Sendable {
  let frame: Rectangle

  /// The room inside the margins.
  var content: Rectangle { frame.inset(left: 18, top: 44, right: 18, bottom: 16) }

  /// The room for a plot, its scales left, above and below.
  var plot: Rectangle { frame.inset(left: 60, top: 70, right: 62, bottom: 38) }

  /// Draws the card, its title, and to the right a caption in few words.
  func draw(title: String, caption: String, on canvas: inout SVGCanvas) {
    canvas.rectangle(frame, fill: .card, stroke: .border, cornerRadius: 8)
    let baseline = frame.top + 27
    canvas.text(title, at: Point(x: frame.left + 18, y: baseline), .panelTitle)
    canvas.text(
      caption, at: Point(x: frame.right - 18, y: baseline), .caption, anchor: .end,
      width: frame.width - TextStyle.panelTitle.width(of: title) - 54)
  }

  /// Says in the middle of the card that there is nothing to draw.
  func drawNothingMeasured(on canvas: inout SVGCanvas) {
    let centre = Point(
      x: frame.left + frame.width / 2, y: content.top + content.height / 2 + 4)
    canvas.text("nothing measured", at: centre, .subtitle, anchor: .middle)
  }
}

extension BinaryFloatingPoint {
  /// Whether a picture can show this measured value: it is a number, and no absurdly large one.
  ///
  /// The bound keeps what is worked out of it within the range of integers.
  var isDrawable: Bool { magnitude <= 1e9 }
}

/// Numbers as text.
enum NumberText {
  /// `value` rounded to `decimals` digits after the point.
  static func fixed(_ value: Double, decimals: Int) -> String {
    let digits = roundedDigits(value, decimals: min(max(decimals, 0), 9))
    let point = digits.text.index(digits.text.endIndex, offsetBy: -digits.decimals)
    let fraction = digits.text[point...]
    return (digits.isNegative ? "-" : "") + digits.text[..<point]
      + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// `value` rounded to at most `decimals` digits after the point, without trailing zeros.
  static func shortest(_ value: Double, decimals: Int) -> String {
    var text = fixed(value, decimals: decimals)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A coordinate in a picture: a hundredth of a pixel is more than a screen can show.
  static func coordinate(_ value: Double) -> String {
    shortest(value, decimals: 2)
  }

  /// The digits after the point that show two significant ones of `value`: at least 1, at most 6.
  static func decimals(for value: Double) -> Int {
    guard value.isDrawable, value != 0 else { return 2 }
    return min(max(1 - Int(clamping: log10(value.magnitude).rounded(.down)), 1), 6)
  }

  /// `text` with the minus sign that typesetters use, as wide as a plus.
  static func typeset(_ text: String) -> String {
    text.hasPrefix("-") ? "\u{2212}" + text.dropFirst() : text
  }

  /// All digits of the rounded magnitude, and how many of them stand after the point.
  private static func roundedDigits(
    _ value: Double, decimals: Int
  ) -> (text: String, decimals: Int, isNegative: Bool) {
    guard value.magnitude <= 1e18 else { return ("0", 0, false) }
    // A double has 15 digits: what lies beyond them is not shown, and never overflows.
    var decimals = decimals
    while decimals > 0, value.magnitude * pow(10, Double(decimals)) > 1e15 { decimals -= 1 }
    let scaled = Int(rounding: value.magnitude * pow(10, Double(decimals)))
    let text = String(scaled)
    let zeros = String(repeating: "0", count: max(0, decimals + 1 - text.count))
    return (zeros + text, decimals, value < 0 && scaled != 0)
  }
}

/// Frames a second, and spans of frames as text.
struct FrameRate: Sendable {
  /// Milliseconds that a frame takes.
  let millisecondsPerFrame: Double

  init(_ sampleRate: Int) {
    millisecondsPerFrame = 1000 / Double(max(1, sampleRate))
  }

  /// "293.02 frames"
  func frames(_ frames: Double, decimals: Int = 2) -> String {
    guard frames.isDrawable else { return "not measured" }
    let text = NumberText.shortest(frames, decimals: decimals)
    return NumberText.typeset(text) + (text == "1" ? " frame" : " frames")
  }

  /// "6.105 ms"
  func milliseconds(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    let milliseconds = frames * millisecondsPerFrame
    return NumberText.typeset(NumberText.fixed(milliseconds, decimals: 3)) + " ms"
  }

  /// "293.02 frames (6.105 ms)"
  func span(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    return self.frames(frames) + " (" + milliseconds(frames) + ")"
  }
}
