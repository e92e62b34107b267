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
