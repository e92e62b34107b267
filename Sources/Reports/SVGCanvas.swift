/// A picture being drawn: each call adds one SVG element on top of those before.
struct SVGCanvas: Sendable {
  private var elements: [String] = []

  mutating func rectangle(
    _ rectangle: Rectangle, fill: Paint, stroke: Paint? = nil, cornerRadius: Double = 0
  ) {
    let outline = stroke.map { " stroke-" + $0.rawValue } ?? ""
    add(
      "rect",
      [
        "class": "fill-" + fill.rawValue + outline,
        "x": NumberText.coordinate(rectangle.left), "y": NumberText.coordinate(rectangle.top),
        "width": NumberText.coordinate(rectangle.width),
        "height": NumberText.coordinate(rectangle.height),
        "rx": NumberText.coordinate(cornerRadius),
      ])
  }

  mutating func line(
    from start: Point, to end: Point, stroke: Paint, width: Double = 1, isDashed: Bool = false
  ) {
    add(
      "line",
      [
        "class": "stroke-" + stroke.rawValue + (isDashed ? " dashed" : ""),
        "x1": NumberText.coordinate(start.x), "y1": NumberText.coordinate(start.y),
        "x2": NumberText.coordinate(end.x), "y2": NumberText.coordinate(end.y),
        "stroke-width": NumberText.coordinate(width),
      ])
  }

  /// A line through all points.
  mutating func curve(_ points: [Point], stroke: Paint, width: Double) {
    guard !points.isEmpty else { return }
    add(
      "polyline",
      [
        "class": "curve stroke-" + stroke.rawValue, "points": Self.list(points),
        "stroke-width": NumberText.coordinate(width),
      ])
  }

  /// A filled shape with these corners.
  mutating func polygon(_ corners: [Point], fill: Paint) {
    add("polygon", ["class": "fill-" + fill.rawValue, "points": Self.list(corners)])
  }

  mutating func dot(at centre: Point, radius: Double, fill: Paint) {
    add(
      "circle",
      [
        "class": "fill-" + fill.rawValue, "cx": NumberText.coordinate(centre.x),
        "cy": NumberText.coordinate(centre.y), "r": NumberText.coordinate(radius),
      ])
  }

  /// One line of text on the baseline through `position`, cut short beyond `width` pixels.
  ///
  /// A halo of the card's colour keeps it readable on top of a curve.
  mutating func text(
    _ text: String, at position: Point, _ style: TextStyle,
    anchor: TextStyle.Anchor = .start, width: Double = 900, hasHalo: Bool = false
  ) {
    add(
      "text",
      [
        "class": "fill-" + style.paint.rawValue + (hasHalo ? " halo stroke-card" : ""),
        "x": NumberText.coordinate(position.x), "y": NumberText.coordinate(position.y),
        "font-size": NumberText.coordinate(style.size),
        "font-weight": style.isBold ? "600" : "400", "text-anchor": anchor.rawValue,
      ],
      content: Markup.escaped(style.truncated(text, width: width)))
  }

  /// What `draw` draws, as one thing with a name and what a pointer resting on it shows.
  mutating func group(_ name: String, tooltip: String, draw: (inout SVGCanvas) -> Void) {
    var inner = SVGCanvas()
    draw(&inner)
    let title = Markup.element("title", content: Markup.escaped(tooltip))
    add("g", ["class": name], content: title + inner.elements.joined())
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
    _ name: String, _ attributes: KeyValuePairs<String, String>, content: String? = nil
  ) {
    elements.append(Markup.element(name, attributes, content: content))
  }

  private static func list(_ points: [Point]) -> String {
    points.map { NumberText.coordinate($0.x) + "," + NumberText.coordinate($0.y) }
      .joined(separator: " ")
  }
}
