/// One line on the screen, with the level meters in it.
struct ScreenLine {
  var text: String
  /// Where meters stand, in characters.
  var meters: [Range<Int>] = []

  /// The line for the terminal: its meters in colour where `hasColour`.
  func drawn(hasColour: Bool) -> Line {
    guard hasColour, !meters.isEmpty else { return "\(text)" }
    let characters = Array(text)
    var line: Line = ""
    var end = 0
    for meter in meters {
      let meter = meter.clamped(to: end..<characters.count)
      line = line + "\(String(characters[end..<meter.lowerBound]))"
      var colour: LevelColour?
      for index in meter {
        let next = LevelColour(cell: index - meter.lowerBound, of: meter.count)
        if next != colour { line = line + next.start }
        colour = next
        line = line + "\(String(characters[index]))"
      }
      line = line + LevelColour.end
      end = meter.upperBound
    }
    return line + "\(String(characters[end...]))"
  }
}

/// The colours of a level meter. They differ in lightness as well, and tell nothing that the place of a cell
/// does not: an eye that takes red for green reads them too.
enum LevelColour {
  /// Up to -18 dBFS: cyan.
  case low
  /// Up to -6 dBFS: yellow.
  case middle
  /// Above: magenta.
  case high

  /// The colour of a cell of a meter that shows `LiveScreen.floor` to 0 dBFS in `count` cells.
  init(cell: Int, of count: Int) {
    let level = LiveScreen.floor * Double(count - cell - 1) / Double(max(1, count))
    self = level > -6 ? .high : level > -18 ? .middle : .low
  }

  /// Select Graphic Rendition (ECMA-48): what begins it.
  var start: Line {
    switch self {
    case .low: "\u{1B}[36m"
    case .middle: "\u{1B}[33m"
    case .high: "\u{1B}[35m"
    }
  }

  /// The terminal's own colour again.
  static let end: Line = "\u{1B}[39m"
}
