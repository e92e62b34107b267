import CCairo

/// The supported picture formats.
public enum PictureFormat: String, Sendable, CaseIterable {
  /// Pixels.
  case png
  /// Scalable lines and text.
  case svg

  /// Creates the format of the extension of `path`, or returns nil if it is not supported.
  public init?(pathExtensionOf path: String) {
    let lower = path.lowercased()
    guard let found = Self.allCases.first(where: { lower.hasSuffix(".\($0.rawValue)") }) else {
      return nil
    }
    self = found
  }
}

/// A colour of a picture, with components from 0 to 255.
public struct Colour: Sendable, Equatable {
  /// The red component.
  public var red: UInt8
  /// The green component.
  public var green: UInt8
  /// The blue component.
  public var blue: UInt8

  /// Creates a colour from a hexadecimal number as in HTML: `0x1A1A1A`.
  public init(_ hex: UInt32) {
    red = UInt8(truncatingIfNeeded: hex >> 16)
    green = UInt8(truncatingIfNeeded: hex >> 8)
    blue = UInt8(truncatingIfNeeded: hex)
  }

  /// The colour as a pixel of an image.
  public var pixel: UInt32 { UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }
}

/// Reason why a picture cannot be drawn.
public enum DrawingFailure: Error {
  /// Cairo is not installed.
  case noLibrary
  /// Memory is insufficient.
  case noMemory
}

/// A picture that is being drawn by Cairo, which is loaded with the first picture.
public struct Canvas: ~Copyable {
  private let canvas: OpaquePointer

  /// Creates a white picture of this size in pixels. Throws if Cairo is missing or memory is
  /// insufficient.
  public init(_ format: PictureFormat, width: Double, height: Double) throws(DrawingFailure) {
    guard ccairo_load() else { throw .noLibrary }
    guard let opened = ccairo_open(format == .svg, width, height) else { throw .noMemory }
    canvas = opened
    ccairo_set_colour(opened, 1, 1, 1)
    ccairo_fill_rectangle(opened, 0, 0, width, height)
  }

  deinit {
    ccairo_close(canvas)
  }

  private func use(_ colour: Colour) {
    ccairo_set_colour(
      canvas, Double(colour.red) / 255, Double(colour.green) / 255, Double(colour.blue) / 255)
  }

  /// Fills a rectangle.
  public mutating func fill(
    x: Double, y: Double, width: Double, height: Double, _ colour: Colour
  ) {
    use(colour)
    ccairo_fill_rectangle(canvas, x, y, width, height)
  }

  /// Draws a line of `width` pixels.
  public mutating func line(
    from start: (x: Double, y: Double), to end: (x: Double, y: Double), width: Double = 1,
    _ colour: Colour
  ) {
    use(colour)
    ccairo_stroke(canvas, start.x, start.y, end.x, end.y, width)
  }

  /// Fills the shape with these corners.
  public mutating func fill(_ corners: [(x: Double, y: Double)], _ colour: Colour) {
    use(colour)
    let flat = corners.flatMap { [$0.x, $0.y] }
    ccairo_fill_shape(canvas, flat, corners.count)
  }

  /// Writes a line of text on the baseline through a point. `alignment` is the fraction of the text
  /// to the left of the point: 0 begins there, 1 ends there. Upright text reads upwards.
  public mutating func write(
    _ text: String, x: Double, y: Double, size: Double = 12, alignment: Double = 0,
    isUpright: Bool = false, _ colour: Colour
  ) {
    use(colour)
    ccairo_write(canvas, text, x, y, size, alignment, isUpright)
  }

  /// Stretches an image over a rectangle. The pixels are in rows from the top.
  public mutating func draw(
    _ pixels: [UInt32], columns: Int, x: Double, y: Double, width: Double, height: Double
  ) {
    guard columns > 0, pixels.count >= columns else { return }
    ccairo_draw_image(
      canvas, pixels, Int32(clamping: columns), Int32(clamping: pixels.count / columns), x, y,
      width,
      height)
  }

  /// Returns the finished picture as the contents of a file. Throws if memory is insufficient.
  public consuming func finish() throws(DrawingFailure) -> [UInt8] {
    var count = 0
    guard let bytes = ccairo_finish(canvas, &count) else { throw .noMemory }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}
