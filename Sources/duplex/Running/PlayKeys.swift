import AudioBasics
import AudioFiles
import AudioSessions

/// What the keys do while files play.
final class PlayKeys {
  static let hints = [
    "space pauses", "left and right go 5 s back and ahead", "up and down a minute",
    "< and > from track to track", "r turns round", "[ and ] loop from here to here",
    "\\ ends the loop", "( and ) slower and faster", "- and + softer and louder", "tab compares",
  ]

  /// The same in the fewest words.
  private static let shortHints = [
    "space pauses", "arrows seek", "< > tracks", "r reverses", "[ ] \\ loop", "( ) speed",
    "- + gain",
  ]

  static let help = "Keys: \(hints.joined(separator: ", ")), ? shows them, q ends."

  /// The twelfth root of two.
  private static let semitone = 1.0594630943592953

  private let player: AudioPlayer
  private let choices: Int
  private var chosen = 0
  private var decibels = 0.0
  private var speed: Double
  /// Where a loop is to begin, in frames of the source.
  private var loopStart: Int?

  /// Steers `player`, whose sources are compared where there are `choices` of them.
  init(_ player: AudioPlayer, choices: Int, speed: Double) {
    self.player = player
    self.speed = speed
    self.choices = choices
  }

  func press(_ key: Key) {
    switch key {
    case .left: player.seek(bySeconds: -5)
    case .right: player.seek(bySeconds: 5)
    case .up: player.seek(bySeconds: 60)
    case .down: player.seek(bySeconds: -60)
    case .character(let character): press(character)
    }
  }

  private func press(_ character: Character) {
    switch character {
    case " ": player.togglePlayPause()
    case "<", ",": goBack()
    case ">", ".": player.skip(by: 1)
    case "r": player.toggleReversed()
    case "[": loopStart = player.position
    case "]": closeLoop()
    case "\\":
      loopStart = nil
      player.setRegion(nil, times: 1)
    case "(": changeSpeed(by: 1 / Self.semitone)
    case ")": changeSpeed(by: Self.semitone)
    case "+", "=": changeGain(by: 1)
    case "-": changeGain(by: -1)
    case "\t":
      guard choices > 0 else { return }
      chosen = (chosen + 1) % choices
      player.choose(chosen)
    default: break
    }
  }

  /// The beginning of this one, or, within its first two seconds, the one before.
  private func goBack() {
    let seconds = player.time?.current ?? 0
    player.skip(by: seconds > 2 ? 0 : -1)
  }

  private func closeLoop() {
    guard let start = loopStart, let end = player.position, start != end else { return }
    player.setRegion(min(start, end)..<max(start, end), times: nil)
  }

  /// A semitone at a time.
  private func changeSpeed(by factor: Double) {
    let speeds = TrackSettings.speeds
    let changed = min(max(speed * factor, speeds.lowerBound), speeds.upperBound)
    // Back at the ordinary speed nothing is converted needlessly.
    speed = abs(changed - 1) < 0.01 ? 1 : changed
    player.setSpeed(speed)
  }

  private func changeGain(by change: Double) {
    decibels = min(max(-60, decibels + change), 12)
    player.setGain(Gain(decibels: decibels))
  }

  /// What a person watches; nil where nothing is heard.
  var state: PlaybackState? {
    guard let time = player.time, let facts = player.current?.facts else { return nil }
    return PlaybackState(
      title: "Playing " + FileName.last(of: facts.name), place: place(time),
      fraction: time.total.map { $0 > 0 ? time.current / $0 : 0 },
      keys: Self.shortHints + (choices > 0 ? ["tab compares"] : []) + ["? keys", "q ends"])
  }

  /// Where it is, of how much, and what is not as usual.
  private func place(_ time: (current: Double, total: Double?)) -> String {
    var line = ClockTime(time.current, showsTenths: true).text
    if let total = time.total { line += " of " + ClockTime(total).text }
    switch player.state {
    case .paused: line += "  paused"
    case .waiting: line += "  waiting"
    case .idle, .playing: break
    }
    if let settings = player.settings {
      if settings.order.isReversed { line += "  backwards" }
      if settings.speed != 1 { line += "  \(settings.speed.shown(2)) x" }
      if settings.order.times == nil { line += "  loop" }
    }
    if decibels != 0 { line += "  \(Int(clamping: decibels)) dB" }
    if choices > 0 { line += "  source \(chosen + 1)" }
    return line
  }
}
