/// A picture being drawn: each call adds one SVG element on top of those before.
struct SVGCanvas: Sendable {
  private var elements: [String] = []

  mutating func rectangle(
    _ rectangle: Rectangle, fill: Paint, stroke: Paint? = nil, cornerRadius: Double = 0
  ) {
    add(
      "rect", class: "fill-\(fill)" + (stroke.map { " stroke-\($0)" } ?? ""),
      [
        "x": rectangle.left, "y": rectangle.top, "width": rectangle.width,
        "height": rectangle.height, "rx": cornerRadius,
      ])
  }

  mutating func line(
    from start: Point, to end: Point, stroke: Paint, width: Double = 1, isDashed: Bool = false
  ) {
    add(
      "line", class: "stroke-\(stroke)" + (isDashed ? " dashed" : ""),
      ["x1": start.x, "y1": start.y, "x2": end.x, "y2": end.y, "stroke-width": width])
  }

  /// A line from the top of `area` to its bottom.
  mutating func vertical(
    at x: Double, of area: Rectangle, stroke: Paint, width: Double = 1, isDashed: Bool = false
  ) {
    line(
      from: Point(x: x, y: area.top), to: Point(x: x, y: area.bottom), stroke: stroke,
      width: width, isDashed: isDashed)
  }

  /// A line from the left of `area` to its right.
  mutating func horizontal(
    at y: Double, of area: Rectangle, stroke: Paint, isDashed: Bool = false
  ) {
    line(
      from: Point(x: area.left, y: y), to: Point(x: area.right, y: y), stroke: stroke,
      isDashed: isDashed)
  }

  /// A line through all points.
  mutating func curve(_ points: [Point], stroke: Paint, width: Double) {
    guard !points.isEmpty else { return }
    add(
      "polyline", class: "curve stroke-\(stroke)", ["stroke-width": width],
      ["points": Self.list(points)])
  }

  /// A filled shape with these corners.
  mutating func polygon(_ corners: [Point], fill: Paint) {
    add("polygon", class: "fill-\(fill)", [:], ["points": Self.list(corners)])
  }

  mutating func dot(at centre: Point, radius: Double, fill: Paint) {
    add("circle", class: "fill-\(fill)", ["cx": centre.x, "cy": centre.y, "r": radius])
  }

  /// One line of text on the baseline through `position`, cut short beyond `width` pixels.
  ///
  /// A halo of the card's colour keeps it readable on top of a curve.
  mutating func text(
    _ text: String, at position: Point, _ style: TextStyle,
    anchor: TextStyle.Anchor = .start, width: Double = 900, hasHalo: Bool = false
  ) {
    add(
      "text", class: "fill-\(style.paint)" + (hasHalo ? " halo stroke-card" : ""),
      ["x": position.x, "y": position.y, "font-size": style.size],
      ["font-weight": style.isBold ? "600" : "400", "text-anchor": anchor.rawValue],
      content: Markup.escaped(style.truncated(text, width: width)))
  }

  /// What `draw` draws, as one thing with a name and what a pointer resting on it shows.
  mutating func group(_ name: String, tooltip: String, draw: (inout SVGCanvas) -> Void) {
    var inner = SVGCanvas()
    draw(&inner)
    let title = Markup.element("title", content: Markup.escaped(tooltip))
    elements.append(
      Markup.element("g", ["class": name], content: title + inner.elements.joined()))
  }

  /// The complete picture on its background.
  func document(title: String, width: Double, height: Double) -> String {
    let size = (NumberText.coordinate(width), NumberText.coordinate(height))
    var background = SVGCanvas()
    background.rectangle(
      Rectangle(left: 0, top: 0, width: width, height: height), fill: .page, cornerRadius: 10)
    let style = Markup.element("style", content: "\n\(Paint.styleSheet)\n")
    let content =
      [Markup.element("title", content: Markup.escaped(title)), style]
      + background.elements + elements
    return Markup.element(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "class": "report", "role": "img",
        "viewBox": "0 0 \(size.0) \(size.1)", "width": size.0, "height": size.1,
      ],
      content: "\n" + content.joined(separator: "\n") + "\n") + "\n"
  }

  private mutating func add(
    _ name: String, class classes: String, _ numbers: KeyValuePairs<String, Double>,
    _ texts: KeyValuePairs<String, String> = [:], content: String? = nil
  ) {
    let attributes =
      [("class", classes)] + numbers.map { ($0, NumberText.coordinate($1)) } + Array(texts)
    elements.append(Markup.element(name, attributes, content: content))
  }

  private static func list(_ points: [Point]) -> String {
    points.map { NumberText.coordinate($0.x) + "," + NumberText.coordinate($0.y) }
      .joined(separator: " ")
  }
}

/// The colours of the pictures by what they stand for.
enum Paint: String, CaseIterable {
  case page, card, border, grid, ink, muted
  /// What was measured, and the unit's own buffers.
  case signal
  /// What lies outside the unit: driver, converters, wire.
  case external
  /// What points at something: arrivals, the peak, the mean.
  case mark
  case stable, refused
  /// Behind the row that was chosen.
  case highlight

  /// The colours on light and on dark ground.
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
}

extension Paint {
  /// The style sheet of a picture, which gives `fill-` and `stroke-` classes their colours.
  ///
  /// Every rule is bound to the picture, for a style inside an inline SVG reaches the whole page.
  static var styleSheet: String {
    """
    .report{color-scheme:light dark;font-variant-numeric:tabular-nums;\
    font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif}
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
    allCases.map { paint in
      ".report .fill-\(paint.rawValue){fill:\(colour(paint))}"
        + ".report .stroke-\(paint.rawValue){stroke:\(colour(paint))}"
    }.joined(separator: "\n")
  }
}

/// How a line of text looks.
struct TextStyle: Sendable {
  /// Height of the font, in pixels.
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

  /// Which point of the text its position names.
  enum Anchor: String {
    case start, middle, end
  }
}

extension TextStyle {
  /// A width that `text` is unlikely to exceed in any system font, in pixels.
  func width(of text: String) -> Double {
    let letter = isBold ? 0.66 : 0.61
    let ems = text.unicodeScalars.reduce(0.0) { sum, scalar in
      sum + (scalar.value < 0x2E80 ? letter : 1)
    }
    return ems * size
  }

  /// This style made smaller, down to `smallest`, until `text` fits into `width`.
  func shrunk(toFit text: String, width: Double, smallest: Double) -> TextStyle {
    var style = self
    while style.size > smallest, style.width(of: text) > width { style.size -= 1 }
    return style
  }

  /// `text`, or as much of its beginning as fits into `width`, and an ellipsis.
  func truncated(_ text: String, width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var kept = Substring(text.prefix(Int(clamping: min(width, 4000))))
    while !kept.isEmpty, self.width(of: kept + "\u{2026}") > width { kept.removeLast() }
    return kept + "\u{2026}"
  }
}

/// A place in the picture, in pixels from its top left corner.
struct Point: Sendable {
  var x: Double
  var y: Double
}

/// An upright rectangle, in pixels.
struct Rectangle: Sendable {
  var left: Double
  var top: Double
  var width: Double
  var height: Double

  var right: Double { left + width }
  var bottom: Double { top + height }

  /// The rectangle that remains inside these margins.
  func inset(
    left: Double = 0, top: Double = 0, right: Double = 0, bottom: Double = 0
  ) -> Rectangle {
    Rectangle(
      left: self.left + left, top: self.top + top, width: max(0, width - left - right),
      height: max(0, height - top - bottom))
  }
}

extension Rectangle {
  /// The rectangle of that height upon this one.
  func above(by height: Double) -> Rectangle {
    Rectangle(left: left, top: top - height, width: width, height: height)
  }

  /// The rectangle between two positions on the x axis, in either order.
  init(from start: Double, to end: Double, top: Double, height: Double) {
    self.init(left: min(start, end), top: top, width: abs(end - start), height: height)
  }
}
