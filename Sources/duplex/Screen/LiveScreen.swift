import AudioBasics
import AudioLevels

/// Draws a `LiveState` for a terminal of this size: as a panel if there are enough rows, else as
/// one line.
///
/// No line reaches the last column, where terminals wrap.
struct LiveScreen {
  let columns: Int
  let rows: Int
  /// Whether the terminal shows Unicode; otherwise all characters are ASCII.
  let hasUnicode: Bool

  /// A screen for the current size of the terminal, which may have been resized.
  static var current: LiveScreen {
    let size = Terminal.size
    return LiveScreen(columns: size.columns, rows: size.rows, hasUnicode: Terminal.hasUnicode)
  }

  /// The lowest level on the scale, in dBFS.
  static let floor = -60.0

  /// The number of rows that remain for messages above a panel.
  private static let freeRows = 4

  private var width: Int { max(1, columns - 1) }

  /// Returns the lines to draw.
  func lines(_ state: LiveState) -> [ScreenLine] {
    let panels = [true, false].lazy.map { panel(state, isWhole: $0) }
    let lines = panels.first { $0.count + Self.freeRows <= rows } ?? [line(state)]
    return lines.map { ScreenLine(text: fitting($0), meters: $0.meters) }
  }

  // MARK: - One line

  /// Returns a single line: the clock and the problems first, then levels, then other values that
  /// fit.
  private func line(_ state: LiveState) -> ScreenLine {
    var meters: [Range<Int>] = []
    let parts = status(state, showsLeft: width >= 50)
    var head = parts[0]
    // What does not fit is left out as a whole.
    for part in parts.dropFirst() where head.columns + 2 + part.columns <= width {
      head += "  " + part
    }
    var shown = state.peaks.prefix(2).indices
    let numbers = shown.map { "  " + padded(state.peaks[$0]) + " dB" }
    var more = state.peaks.count > 2 ? "  +\((state.peaks.count - 2).counted("channel"))" : ""
    var rest = numbers.reduce(0) { $0 + $1.count } + more.count
    if head.columns + rest > width { (shown, more, rest) = (0..<0, "", 0) }
    var tail = ""
    // Bars of at least twelve cells take precedence over the loudness.
    let loudness = shortLoudness(state)
    if head.count + rest + loudness.count + 2 + 15 * shown.count <= width, !loudness.isEmpty {
      tail = "  " + loudness
      rest += tail.count
    }
    let cells = min(30, (width - head.count - rest) / max(1, shown.count) - 3)
    for channel in shown {
      if cells >= 4 {
        head += "  "
        meters.append(head.count..<head.count + cells)
        head += bar(state, channel, cells: cells)
      }
      head += cells >= 4 ? String(numbers[channel].dropFirst()) : numbers[channel]
    }
    return ScreenLine(text: head + more + tail, meters: meters)
  }

  // MARK: - The panel

  /// Returns the panel. Less important lines are left out if `isWhole` is false.
  private func panel(_ state: LiveState, isWhole: Bool) -> [ScreenLine] {
    func wrapped(_ text: String) -> TextLines { TextLines(text, width: width, next: "  ") }
    var head = isWhole && state.title.columns > width ? Array(wrapped(state.title)) : [state.title]
    if isWhole, !state.device.isEmpty { head += wrapped(state.device) }
    head += statusLines(state)
    if let fraction = state.fraction { head.append(progress(fraction)) }
    var tail: [String] = []
    if let levels = state.levels { tail.append(loudness(levels)) }
    let facts = facts(state)
    if isWhole, !facts.isEmpty { tail += wrapped(facts) }
    if !state.keys.isEmpty { tail += wrapped("Keys: " + state.keys.joined(separator: ", ")) }
    let room = rows - Self.freeRows - head.count - tail.count
    return head.map { ScreenLine(text: $0) } + meters(state, rows: room)
      + tail.map { ScreenLine(text: $0) }
  }

  /// Returns the scale and as many meters as fit in `rows`, one for each channel.
  private func meters(_ state: LiveState, rows: Int) -> [ScreenLine] {
    let count = state.peaks.count
    guard count > 0 else { return [] }
    // The columns that the levels of a channel need beside its meter.
    let showsMeans = width >= 60
    let levelWidth = (showsMeans ? 22 : 16) + 3
    let cells = min(120, max(4, width - levelWidth))
    let names = " peak  hold" + (showsMeans ? "   RMS" : "")
    var lines = [ScreenLine(text: "   " + scale(cells: cells) + names + " dBFS")]
    let shown = count < rows ? count : max(1, min(count, rows - 2))
    for channel in 0..<shown {
      let label = String(channel + 1).aligned(to: 2) + " "
      var numbers = " " + padded(state.peaks[channel]) + "  " + padded(state.holds[channel])
      if showsMeans { numbers += "  " + padded(state.means[channel]) }
      lines.append(
        ScreenLine(
          text: label + bar(state, channel, cells: cells) + numbers
            + (isClipped(state, channel) ? " CLIP" : ""),
          meters: [label.count..<label.count + cells]))
    }
    if count > shown { lines.append(ScreenLine(text: "   +\((count - shown).counted("channel"))")) }
    return lines
  }

  /// Returns whether the channel was clipped, according to its recording, or else to its meter.
  private func isClipped(_ state: LiveState, _ channel: Int) -> Bool {
    if let clipped = state.levels?.clippedSamples, channel < clipped.count {
      return clipped[channel] > 0
    }
    return channel < state.clips.count && state.clips[channel]
  }

  /// Returns the scale: marks at round levels, each above its cell.
  private func scale(cells: Int) -> String {
    var text = Array(repeating: Character(" "), count: cells)
    for level in stride(from: -60, through: 0, by: cells < 40 ? 20 : 10) {
      let mark = String(level)
      let end = min(cells, max(mark.count, cell(Double(level), of: cells)))
      for (index, character) in zip(end - mark.count..<end, mark) { text[index] = character }
    }
    return String(text)
  }

  // MARK: - Parts

  /// Returns the clock, the states that differ from normal, and the problems.
  private func status(_ state: LiveState, showsLeft: Bool) -> [String] {
    var clock = state.clock
    if showsLeft, let left = state.left { clock += (clock.isEmpty ? "" : ", ") + left }
    return [clock] + state.states + alarms(state)
  }

  /// Returns the same parts in as many lines as they need.
  private func statusLines(_ state: LiveState) -> [String] {
    status(state, showsLeft: true).reduce(into: []) { lines, part in
      if let last = lines.last, last.columns + 2 + part.columns <= width {
        lines[lines.count - 1] += "  " + part
      } else {
        lines.append((lines.isEmpty ? "" : "  ") + part)
      }
    }
  }

  /// Returns the problems that require an action of the user.
  private func alarms(_ state: LiveState) -> [String] {
    var alarms: [String] = []
    if state.clippedSamples > 0 { alarms.append("CLIP \(state.clippedSamples)") }
    if state.xruns > 0 {
      alarms.append(
        "\(state.xruns.counted("xrun")), \(state.lostFrames.counted("frame")) lost")
    }
    if let left = state.diskSeconds, left < 3600 {
      alarms.append("disk full in \(ClockTime(left).text)")
    }
    return alarms
  }

  /// Returns the values that require no action.
  private func facts(_ state: LiveState) -> String {
    var facts: [String] = []
    if let load = state.load {
      facts.append("audio thread \(load.isNaN ? "-" : (load * 100).shown(1)) % busy")
      if state.xruns == 0 { facts.append("no xruns") }
    }
    if let left = state.diskSeconds, left >= 3600 {
      let hours = Int(clamping: left / 3600)
      facts.append(
        "disk full in \(hours < 48 ? "\(hours) h" : (hours / 24).counted("day"))")
    }
    let text = facts.joined(separator: ", ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  private func loudness(_ levels: ProgrammeLevels) -> String {
    let now = levels.shortTermLUFS?.shown(1) ?? "-"
    let whole = levels.integratedLUFS?.shown(1) ?? "-"
    return width < 60
      ? "LUFS: \(now) in 3 s, \(whole) in total"
      : "Loudness: \(now) LUFS over the last 3 s, \(whole) LUFS over all"
  }

  private func shortLoudness(_ state: LiveState) -> String {
    var parts: [String] = []
    if let now = state.levels?.shortTermLUFS { parts.append("S " + now.shown(1)) }
    if let whole = state.levels?.integratedLUFS { parts.append("I " + whole.shown(1)) }
    return parts.isEmpty ? "" : parts.joined(separator: " ") + " LUFS"
  }

  /// Returns a bar over the whole width that is full up to `fraction` of it.
  private func progress(_ fraction: Double) -> String {
    let full = max(0, min(width, Int(clamping: fraction * Double(width))))
    return String(repeating: hasUnicode ? "█" : "#", count: full)
      + String(repeating: hasUnicode ? "·" : ".", count: width - full)
  }

  /// Returns a meter that is full up to the mean, with marks at the peak and at the held peak.
  private func bar(_ state: LiveState, _ channel: Int, cells: Int) -> String {
    let mean = cell(state.means[channel], of: cells)
    let marks = [
      (cell(state.holds[channel], of: cells), "|"),
      (cell(state.peaks[channel], of: cells), hasUnicode ? "▌" : "="),
    ]
    var text = ""
    var end = 0
    for (place, mark) in marks.reversed() where place > end {
      text += stretch(end..<place - 1, mean: mean) + mark
      end = place
    }
    return text + stretch(end..<cells, mean: mean)
  }

  /// Returns the part of a meter between marks.
  private func stretch(_ cells: Range<Int>, mean: Int) -> String {
    let full = max(0, min(cells.upperBound, mean) - cells.lowerBound)
    return String(repeating: hasUnicode ? "█" : "#", count: full)
      + String(repeating: hasUnicode ? "·" : ".", count: cells.count - full)
  }

  private func cell(_ level: Double, of cells: Int) -> Int {
    let part = (level - Self.floor) / -Self.floor
    return max(0, min(cells, Int(clamping: part * Double(cells))))
  }

  /// Returns the level in whole decibels, in four columns.
  private func padded(_ level: Double) -> String {
    let whole = Int(rounding: min(99, max(-99, level)))
    return (whole == 0 && level < 0 ? "-0" : "\(whole)").aligned(to: 4)
  }

  /// Returns the part of a line that fits the width. A line with meters contains no text from
  /// outside.
  private func fitting(_ line: ScreenLine) -> String {
    guard !line.meters.isEmpty else { return fitting(line.text) }
    let scalars = line.text.unicodeScalars
    return scalars.count <= width ? line.text : String(scalars.prefix(width))
  }

  /// Returns the part of `text` that fits the width. A character from outside may be two columns
  /// wide: each scalar except ASCII and the characters of bars counts as two columns, so that no
  /// terminal breaks the panel.
  func fitting(_ text: String) -> String {
    let text = text.printable
    if text.utf8.count <= width, text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = ""
    var used = 0
    // The placeholder of an unprintable character is counted as a character.
    for character in text {
      for scalar in character.unicodeScalars {
        used += scalar.isASCII || "█·▌".unicodeScalars.contains(scalar) ? 1 : 2
      }
      guard used <= width else { break }
      result.append(character.isASCII || hasUnicode ? character : "?")
    }
    return result
  }
}

/// One line on the screen, with the level meters in it.
struct ScreenLine {
  var text: String
  /// The positions of the meters, in characters.
  var meters: [Range<Int>] = []

  /// Returns the line for the terminal, with its meters in colour if `hasColour` is true.
  func drawn(hasColour: Bool) -> Line {
    guard !meters.isEmpty else { return "\(text)" }
    let scalars = Array(text.unicodeScalars)
    func part(_ range: Range<Int>) -> String {
      String(String.UnicodeScalarView(scalars[range]))
    }
    var line: Line = ""
    var end = 0
    for meter in meters {
      let meter = meter.clamped(to: end..<scalars.count)
      line = line + "\(part(end..<meter.lowerBound))"
      var start = meter.lowerBound
      for colour in LevelColour.allCases where start < meter.upperBound {
        let next =
          start
          + (start..<meter.upperBound).prefix {
            LevelColour(cell: $0 - meter.lowerBound, of: meter.count) == colour
          }.count
        // A meter consists only of characters that are created here.
        let cells = Line(trusting: part(start..<next))
        if next > start { line = line + (hasColour ? colour.start : "") + cells }
        start = next
      }
      if hasColour { line = line + LevelColour.end }
      end = meter.upperBound
    }
    return line + "\(part(end..<scalars.count))"
  }
}

/// The colours of a level meter. They also differ in lightness, and only repeat the information of
/// the position of a cell, so that they can be read with red-green colour blindness.
enum LevelColour: CaseIterable {
  /// The level is up to -18 dBFS: cyan.
  case low
  /// The level is up to -6 dBFS: yellow.
  case middle
  /// The level is above -6 dBFS: magenta.
  case high

  /// Returns the colour of a cell of a meter that shows `LiveScreen.floor` to 0 dBFS in `count`
  /// cells.
  init(cell: Int, of count: Int) {
    let level = LiveScreen.floor * Double(count - cell - 1) / Double(max(1, count))
    self = level > -6 ? .high : level > -18 ? .middle : .low
  }

  /// The control sequence that begins the colour: Select Graphic Rendition (ECMA-48).
  var start: Line {
    switch self {
    case .low: "\u{1B}[36m"
    case .middle: "\u{1B}[33m"
    case .high: "\u{1B}[35m"
    }
  }

  /// The control sequence that restores the default colour of the terminal.
  static let end: Line = "\u{1B}[39m"
}
