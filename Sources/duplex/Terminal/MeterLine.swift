import AudioSessions

/// A level meter in one line of text: time, a bar and its peak a channel, what was lost.
struct MeterLine {
  let text: String

  init(
    _ reading: MeterReading, seconds: Double, _ moment: SessionMoment,
    _ recording: RecordingState?
  ) {
    var line = Self.clock(seconds)
    for (peak, rms) in zip(reading.peakDBFS, reading.rmsDBFS).prefix(2) {
      line += "  " + Self.bar(rms, peak: peak) + " " + Self.decibels(peak)
    }
    if reading.peakDBFS.count > 2 { line += "  +\(reading.peakDBFS.count - 2) channels" }
    let xruns = moment.captureXruns + moment.playbackXruns
    if xruns > 0 { line += "  \(xruns) xruns, \(moment.lostFrames) frames lost" }
    if let recording { line += Self.words(recording) }
    text = line
  }

  /// What a recording adds: loudness now and of the whole, what clipped, how long the disk lasts.
  private static func words(_ recording: RecordingState) -> String {
    guard recording.isOpen else { return "  waiting" }
    var line = ""
    if let short = recording.levels.shortTermLUFS { line += "  S \(short.shown(1))" }
    if let whole = recording.levels.integratedLUFS { line += " I \(whole.shown(1)) LUFS" }
    let clipped = recording.levels.clippedSamples.reduce(0, +)
    if clipped > 0 { line += "  CLIP \(clipped)" }
    if let left = recording.secondsLeft, left < 3600 {
      line +=
        "  disk full in \(left < 120 ? "\(Int(clamping: left)) s" : "\(Int(clamping: left / 60)) min")"
    }
    return line
  }

  private static func clock(_ seconds: Double) -> String {
    let tenths = Int(clamping: seconds * 10)
    let minutes = tenths / 600
    let rest = tenths % 600
    return "\(minutes):\(rest < 100 ? "0" : "")\(rest / 10).\(rest % 10)"
  }

  /// Twenty cells for 60 dB: full to the mean, a mark at the peak.
  private static func bar(_ rms: Double, peak: Double) -> String {
    func cell(_ level: Double) -> Int { max(0, min(20, Int(clamping: (level + 60) / 3))) }
    var cells = Array(repeating: Character("·"), count: 20)
    for index in 0..<cell(rms) { cells[index] = "█" }
    if cell(peak) > 0 { cells[cell(peak) - 1] = "▌" }
    return String(cells)
  }

  private static func decibels(_ level: Double) -> String {
    let whole = Int(rounding: min(999, max(-99, level)))
    let digits = whole == 0 && level < 0 ? "-0" : "\(whole)"
    return String(repeating: " ", count: max(0, 3 - digits.count)) + digits + " dB"
  }
}

/// A time as clocks show it: `3:12`, `1:03:12`.
struct ClockTime {
  let text: String

  /// `seconds`, with tenths where `showsTenths`.
  init(_ seconds: Double, showsTenths: Bool = false) {
    let tenths = Int(clamping: max(0, seconds) * 10)
    let whole = tenths / 10
    func padded(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let minutes = whole / 60 % 60
    var text = whole >= 3600 ? "\(whole / 3600):\(padded(minutes))" : "\(minutes)"
    text += ":" + padded(whole % 60)
    if showsTenths { text += ".\(tenths % 10)" }
    self.text = text
  }
}
