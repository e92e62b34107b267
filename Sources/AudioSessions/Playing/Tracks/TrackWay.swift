/// Where in its file each frame of a track lies, in the order in which they are heard.
struct TrackWay: Sendable, Equatable {
  let path: PlayPath
  /// Where the first frame that is heard lies on the path, in frames of the file.
  let firstIndex: Double
  /// Frames of the file that one frame of the unit moves on by.
  let ratio: Double

  /// The boundary of the file that comes after `frames` frames of the unit.
  func boundary(after frames: Int) -> Double {
    let index = firstIndex + Double(frames) * ratio
    let whole = index.rounded(.down)
    let boundary = Double(path.boundary(at: Int(clamping: whole)))
    return path.order.isReversed ? boundary - (index - whole) : boundary + (index - whole)
  }

  /// The order with the passes left out that are over after `frames` frames of the unit.
  func order(after frames: Int) -> PlayOrder {
    var order = path.order
    let passes = path.passes(before: Int(clamping: firstIndex + Double(frames) * ratio))
    order.times = order.times.map { max(1, $0 - passes) }
    return order
  }

  /// Frames of the unit until the file's `boundary` is come to in the first pass; nil where that is
  /// not ahead.
  func frames(until boundary: Int) -> Int? {
    let index = path.order.isReversed ? path.entry - boundary : boundary - path.entry
    guard index >= 0, path.firstLength.map({ index <= $0 }) ?? true else { return nil }
    let frames = ((Double(index) - firstIndex) / ratio).rounded()
    return frames >= 0 ? Int(clamping: frames) : nil
  }

  /// Frames of the unit in all; nil for ever, or where that is not known.
  var frameCount: Int? {
    path.frameCount.map { max(0, Int(rounding: (Double($0) - firstIndex) / ratio)) }
  }
}
