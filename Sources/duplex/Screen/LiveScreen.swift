import AudioBasics

/// Draws a `LiveState` or a `PlaybackState` for a terminal of this size: a panel where there are rows for it, else one line.
///
/// No line reaches the last column, where terminals wrap.
struct LiveScreen {
  let columns: Int
  let rows: Int
  /// Without it all is ASCII.
  let hasUnicode: Bool

  /// The terminal as it is now: it may have been resized.
  static var current: LiveScreen {
    let size = Terminal.size
    return LiveScreen(columns: size.columns, rows: size.rows, hasUnicode: Terminal.hasUnicode)
  }

  /// The lowest level on the scale, in dBFS.
  static let floor = -60.0

  private var width: Int { max(1, columns - 1) }

  /// What to draw.
  func lines(_ state: LiveState) -> [ScreenLine] {
    let panel = panel(state)
    // A sentence needs room above it.
    let lines = panel.count + 4 <= rows ? panel : [line(state)]
    return lines.map { ScreenLine(text: fitting($0.text), meters: $0.meters) }
  }

  // MARK: - One line

  /// The clock and what goes wrong first, then levels, then what else there is room for.
  private func line(_ state: LiveState) -> ScreenLine {
    var meters: [Range<Int>] = []
    var head = clock(state, showsLeft: width >= 50)
    for alarm in alarms(state) { head += "  " + alarm }
    let shown = state.peaks.prefix(2).indices
    let numbers = shown.map { "  " + decibels(state.peaks[$0]) }
    let more = state.peaks.count > 2 ? "  +\(state.peaks.count - 2) channels" : ""
    var rest = numbers.reduce(0) { $0 + $1.count } + more.count
    var tail = ""
    // Twelve cells of a bar each are worth more than loudness.
    let loudness = loudness(state, isShort: true)
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

  private func panel(_ state: LiveState) -> [ScreenLine] {
    var lines = [ScreenLine(text: state.title)]
    // Leaves the levels their room on a narrow screen.
    let levelWidth = 18
    let cells = min(120, max(4, width - 3 - levelWidth))
    func add(_ text: String) { lines.append(ScreenLine(text: text)) }
    add(state.device)
    add(([clock(state, showsLeft: true)] + alarms(state)).joined(separator: "  "))
    add("   " + scale(cells: cells) + " peak  hold dBFS")
    let channels = max(1, min(state.peaks.count, rows - 12))
    for channel in state.peaks.prefix(channels).indices {
      let number = String(channel + 1)
      let label = number.aligned(to: 2) + " "
      let clipped = state.levels?.clippedSamples ?? []
      let numbers = " " + padded(state.peaks[channel]) + "  " + padded(state.holds[channel])
      let clip = channel < clipped.count && clipped[channel] > 0 ? " CLIP" : ""
      lines.append(
        ScreenLine(
          text: label + bar(state, channel, cells: cells) + numbers + clip,
          meters: [label.count..<label.count + cells]))
    }
    if state.peaks.count > channels { add("   +\(state.peaks.count - channels) channels") }
    let loudness = loudness(state, isShort: width < 60)
    if !loudness.isEmpty { add(loudness) }
    if !state.keys.isEmpty {
      for line in TextLines("Keys: " + state.keys.joined(separator: ", "), width: width) {
        add(line)
      }
    }
    return lines
  }

  /// Marks at round levels, each above its cell.
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

  private func clock(_ state: LiveState, showsLeft: Bool) -> String {
    if state.isWaiting { return "waiting for the start" }
    var text = ClockTime(state.seconds, showsTenths: true).text
    if state.isPaused { text += "  PAUSED" }
    if showsLeft, let duration = state.duration {
      text += ", \(ClockTime(max(0, duration - state.seconds)).text) left"
    }
    return text
  }

  /// What a person should act on.
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

  private func loudness(_ state: LiveState, isShort: Bool) -> String {
    var parts: [String] = []
    if let now = state.levels?.shortTermLUFS {
      parts.append((isShort ? "S " : "Loudness of the last 3 s: ") + now.shown(1))
    }
    if let whole = state.levels?.integratedLUFS {
      parts.append((isShort ? "I " : "of the whole: ") + whole.shown(1))
    }
    return parts.isEmpty ? "" : parts.joined(separator: isShort ? " " : ", ") + " LUFS"
  }

  /// Full to the mean, a mark at the peak that is held.
  private func bar(_ state: LiveState, _ channel: Int, cells: Int) -> String {
    let full: Character = hasUnicode ? "█" : "#"
    var text = Array(repeating: Character(hasUnicode ? "·" : "."), count: cells)
    for index in 0..<cell(state.means[channel], of: cells) { text[index] = full }
    let peak = cell(state.peaks[channel], of: cells)
    if peak > 0 { text[peak - 1] = hasUnicode ? "▌" : "=" }
    let hold = cell(state.holds[channel], of: cells)
    if hold > 0 { text[hold - 1] = "|" }
    return String(text)
  }

  private func cell(_ level: Double, of cells: Int) -> Int {
    let part = (level - Self.floor) / -Self.floor
    return max(0, min(cells, Int(clamping: part * Double(cells))))
  }

  private func decibels(_ level: Double) -> String { padded(level) + " dB" }

  /// Whole decibels in three columns.
  private func padded(_ level: Double) -> String {
    let whole = Int(rounding: min(99, max(-99, level)))
    return (whole == 0 && level < 0 ? "-0" : "\(whole)").aligned(to: 4)
  }

  /// As much of `text` as the width holds. A character from outside may be two columns wide: each scalar
  /// but ASCII and the bars' counts as two.
  func fitting(_ text: String) -> String {
    var result = ""
    var used = 0
    // What stands for a character that may not be shown has a column of its own.
    for character in text.printable {
      for scalar in character.unicodeScalars {
        used += scalar.isASCII || "█·▌".unicodeScalars.contains(scalar) ? 1 : 2
      }
      guard used <= width else { break }
      result.append(character.isASCII || hasUnicode ? character : "?")
    }
    return result
  }
}

extension LiveScreen {
  /// What to draw: a panel where there are rows for it, else the place alone.
  func lines(_ state: PlaybackState) -> [String] {
    let place = state.place + (state.xruns == 0 ? "" : "  " + state.xruns.counted("xrun"))
    var panel = [state.title, state.device, place]
    if let fraction = state.fraction { panel.append(progress(fraction)) }
    panel += TextLines("Keys: " + state.keys.joined(separator: ", "), width: width)
    // A sentence needs room above it.
    return (panel.count + 4 <= rows ? panel : [place]).map { fitting($0) }
  }

  /// A bar over the whole width, full to that part of it.
  private func progress(_ fraction: Double) -> String {
    let full = max(0, min(width, Int(clamping: fraction * Double(width))))
    return String(repeating: hasUnicode ? "█" : "#", count: full)
      + String(repeating: hasUnicode ? "·" : ".", count: width - full)
  }
}

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
