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
  /// The rectangle between two positions on the x axis, in either order.
  init(from start: Double, to end: Double, top: Double, height: Double) {
    self.init(left: min(start, end), top: top, width: abs(end - start), height: height)
  }
}
