/// What stands above the panels: what was measured, how, and the result in one figure.
struct PageHeader: Sendable {
  let title: String
  let subtitle: String
  let headline: String
  let detail: String

  static let height = 84.0

  func draw(in area: Rectangle, on canvas: inout SVGCanvas) {
    let headlineWidth = max(
      TextStyle.headline.width(of: headline), TextStyle.subtitle.width(of: detail))
    let width = area.width - headlineWidth - 30
    let style = TextStyle.title.shrunk(toFit: title, width: width, smallest: 13)
    canvas.text(title, at: Point(x: area.left, y: area.top + 36), style, width: width)
    canvas.text(
      subtitle, at: Point(x: area.left, y: area.top + 60), .subtitle, width: width)
    canvas.text(headline, at: Point(x: area.right, y: area.top + 38), .headline, anchor: .end)
    canvas.text(detail, at: Point(x: area.right, y: area.top + 60), .subtitle, anchor: .end)
  }
}
