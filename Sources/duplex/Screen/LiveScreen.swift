import AudioBasics

/// Draws a `LiveState` for a terminal of this size: a panel where there are rows for it, else one line.
///
/// No line reaches the last column, where terminals wrap.
struct LiveScreen {
  let columns: Int
  let rows: Int
  /// Without it all is ASCII.
  let hasUnicode: Bool

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
      let label = String(repeating: " ", count: max(0, 2 - number.count)) + number + " "
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
        "\(state.xruns) xrun\(state.xruns == 1 ? "" : "s"), \(state.lostFrames) frame"
          + "\(state.lostFrames == 1 ? "" : "s") lost")
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
    let digits = whole == 0 && level < 0 ? "-0" : "\(whole)"
    return String(repeating: " ", count: max(0, 4 - digits.count)) + digits
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
