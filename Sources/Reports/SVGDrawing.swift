/// A position in a picture, in pixels from its top left corner.
typealias Point = (x: Double, y: Double)

/// A report that is being drawn. Each call adds one SVG element above the previous ones.
///
/// The SVG is written as text, not by Cairo, whose SVG has outlines of letters instead of text, no
/// tooltips, and the same colours on a dark background.
struct SVGDrawing {
  private var markup = ""

  mutating func rectangle(
    _ area: Rectangle, fill: Paint, stroke: Paint? = nil, cornerRadius: Double = 0
  ) {
    add(
      "rect", class: "fill-\(fill)" + (stroke.map { " stroke-\($0)" } ?? ""),
      ["x": area.left, "y": area.top, "width": area.width, "height": area.height],
      cornerRadius > 0 ? ["rx": cornerRadius] : [:])
  }

  mutating func line(
    _ start: Point, _ end: Point, stroke: Paint, width: Double = 1, isDashed: Bool = false
  ) {
    add(
      "line", class: "stroke-\(stroke)" + (isDashed ? " dashed" : ""),
      ["x1": start.x, "y1": start.y, "x2": end.x, "y2": end.y, "stroke-width": width])
  }

  /// Draws a line through all points.
  mutating func curve(_ points: [Point], stroke: Paint, width: Double) {
    guard !points.isEmpty else { return }
    add("polyline", class: "curve stroke-\(stroke)", ["stroke-width": width], points: points)
  }

  /// Draws a filled shape with these corners.
  mutating func polygon(_ corners: [Point], fill: Paint) {
    add("polygon", class: "fill-\(fill)", [:], points: corners)
  }

  /// Draws a filled square that is rotated by 45 degrees.
  mutating func diamond(at centre: Point, fill: Paint) {
    let (x, y) = centre
    polygon([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], fill: fill)
  }

  mutating func dot(at centre: Point, radius: Double, fill: Paint) {
    add("circle", class: "fill-\(fill)", ["cx": centre.x, "cy": centre.y, "r": radius])
  }

  /// Draws one line of text on the baseline through `position`, truncated to `width` pixels.
  ///
  /// A halo in the card's colour keeps it readable on top of a curve.
  mutating func text(
    _ text: String, at position: Point, _ style: TextStyle,
    anchor: TextStyle.Anchor = .start, width: Double = 900, hasHalo: Bool = false
  ) {
    add(
      "text",
      class: "\(anchor) fill-\(style.paint)" + (style.isBold ? " bold" : "")
        + (hasHalo ? " halo stroke-card" : ""),
      ["x": position.x, "y": position.y, "font-size": style.size],
      content: style.truncated(text, width: width).escapedAsMarkup)
  }

  /// Draws the output of `draw` as one group with a class name and a tooltip.
  mutating func group(_ name: String, tooltip: String, draw: (inout SVGDrawing) -> Void) {
    markup += "<g class=\"\(name)\"><title>\(tooltip.escapedAsMarkup)</title>"
    draw(&self)
    markup += "</g>\n"
  }

  /// Returns the complete picture on its background.
  func document(title: String, size: Rectangle) -> String {
    var background = SVGDrawing()
    background.rectangle(size, fill: .page, cornerRadius: 10)
    let (width, height) = (NumberText.coordinate(size.width), NumberText.coordinate(size.height))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" class="report" role="img" \
      viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)">
      <title>\(title.escapedAsMarkup)</title>
      <style>
      \(Paint.styleSheet)
      </style>
      \(background.markup)\(markup)</svg>

      """
  }

  private mutating func add(
    _ name: String, class classes: String, _ numbers: KeyValuePairs<String, Double>,
    _ more: KeyValuePairs<String, Double> = [:], points: [Point] = [], content: String? = nil
  ) {
    markup += "<\(name) class=\"\(classes)\""
    for (key, value) in Array(numbers) + Array(more) {
      markup += " \(key)=\"\(NumberText.coordinate(value))\""
    }
    if !points.isEmpty {
      let places = points.map { NumberText.coordinate($0.x) + "," + NumberText.coordinate($0.y) }
      markup += " points=\"\(places.joined(separator: " "))\""
    }
    markup += content.map { ">\($0)</\(name)>\n" } ?? "/>\n"
  }
}

extension String {
  /// The text as content or quoted attribute of XML and HTML, with markup characters escaped.
  ///
  /// Control characters, which XML forbids even if they are escaped, become U+FFFD.
  var escapedAsMarkup: String {
    unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      case "\t", "\n", "\r": String(scalar)
      case _ where scalar.properties.generalCategory == .control,
        _ where scalar.properties.isNoncharacterCodePoint:
        "\u{FFFD}"
      default: String(scalar)
      }
    }.joined()
  }
}

/// The colours of the pictures, named by their purpose.
enum Paint: String, CaseIterable {
  case page, card, border, grid, ink, muted
  /// Measured values, and the unit's own buffers.
  case signal
  /// Parts outside the unit: driver, converters, wire.
  case external
  /// Marks: arrivals, the peak, the median.
  case mark
  case stable, refused
  /// The background of the chosen row.
  case highlight

  /// The colours on a light and on a dark background.
  var colours: (light: String, dark: String) {
    switch self {
    case .page: ("#f5f6f8", "#101317")
    case .card: ("#ffffff", "#191d23")
    case .border: ("#dde1e7", "#2e343d")
    case .grid: ("#eaedf1", "#272d35")
    case .ink: ("#1b2027", "#e9ecf0")
    case .muted: ("#5b6573", "#9da7b5")
    case .signal: ("#2a6fdb", "#6aa5ff")
    case .external: ("#e3a008", "#f0bc4c")
    case .mark: ("#c2205f", "#ff7fae")
    case .stable: ("#1f8a55", "#4cc38a")
    case .refused: ("#c5402f", "#ff8577")
    case .highlight: ("#e6f0ff", "#1d2d47")
    }
  }

  /// The style sheet of a picture, which defines the colours of the `fill-` and `stroke-` classes.
  ///
  /// Every rule is restricted to the picture, because a style inside an inline SVG applies to the
  /// whole page.
  static var styleSheet: String {
    """
    .report{color-scheme:light dark;font-variant-numeric:tabular-nums;\
    font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif}
    .report .middle{text-anchor:middle}
    .report .end{text-anchor:end}
    .report .bold{font-weight:600}
    .report .curve{fill:none;stroke-linejoin:round;stroke-linecap:round}
    .report .dashed{stroke-dasharray:4 3}
    .report .halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}
    \(rules(\.colours.light))
    @media (prefers-color-scheme:dark){
    \(rules(\.colours.dark))
    }
    """
  }

  private static func rules(_ colour: (Paint) -> String) -> String {
    allCases.map {
      ".report .fill-\($0){fill:\(colour($0))}.report .stroke-\($0){stroke:\(colour($0))}"
    }.joined(separator: "\n")
  }
}

/// The style of a line of text: size, colour and weight.
struct TextStyle {
  /// The height of the font, in pixels.
  var size: Double
  var paint: Paint
  var isBold = false

  static let title = TextStyle(size: 21, paint: .ink, isBold: true)
  static let headline = TextStyle(size: 27, paint: .ink, isBold: true)
  static let subtitle = TextStyle(size: 13, paint: .muted)
  static let panelTitle = TextStyle(size: 14, paint: .ink, isBold: true)
  static let value = TextStyle(size: 13, paint: .ink)
  static let caption = TextStyle(size: 12, paint: .muted)
  static let tick = TextStyle(size: 11, paint: .muted)
  static let mark = TextStyle(size: 11, paint: .mark, isBold: true)

  /// The point of the text that is at its position.
  enum Anchor: String {
    case start, middle, end
  }

  /// Returns a width in pixels that `text` is unlikely to exceed in any system font.
  func width(of text: some StringProtocol) -> Double {
    let letter = isBold ? 0.66 : 0.61
    return text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x2E80 ? letter : 1) } * size
  }

  /// Returns `text`, or as much of its beginning as fits into `width` with an ellipsis.
  func truncated(_ text: String, width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var kept = text.prefix(Int(clamping: min(width, 4000)))
    while !kept.isEmpty, self.width(of: kept + "\u{2026}") > width { kept.removeLast() }
    return kept + "\u{2026}"
  }
}

/// An upright rectangle, in pixels.
struct Rectangle {
  var left: Double
  var top: Double
  var width: Double
  var height: Double

  var right: Double { left + width }
  var bottom: Double { top + height }

  /// Returns the rectangle that remains inside these margins.
  func inset(
    left: Double = 0, top: Double = 0, right: Double = 0, bottom: Double = 0
  ) -> Rectangle {
    Rectangle(
      left: self.left + left, top: self.top + top, width: max(0, width - left - right),
      height: max(0, height - top - bottom))
  }
}

extension Rectangle {
  /// Creates the rectangle between two positions on the x axis, in either order.
  init(from start: Double, to end: Double, top: Double, height: Double) {
    self.init(left: min(start, end), top: top, width: abs(end - start), height: height)
  }
}
