import AudioBasics
import AudioFiles
import AudioSessions

/// What keys do while a session runs.
protocol SessionKeys: AnyObject {
  /// The keys, each with its word.
  var hints: [String] { get }

  /// Does what `key` asks for at `frame`; false where it means nothing here.
  func press(_ key: Key, at frame: Int) -> Bool
}

/// What the keys do while a microphone is recorded or played: space pauses, - and + change its gain.
final class MixerKeys: SessionKeys {
  /// Decibels within which the keys move the gain.
  private static let decibelRange = -60.0...30.0

  /// The gain of the microphone; nil where it is not played.
  private var gain: GainControl?
  /// What is mixed in.
  private let player: AudioPlayer?
  /// What is recorded, where something is.
  private let recording: RecordingWatch?
  /// Whether a pause silences the microphone, because it is played.
  private let mutesInput: Bool
  private var decibels: Double
  private var isPaused = false

  /// Keys for a microphone that begins at `decibels`, where `gain` changes it, for what `player` mixes
  /// in, and for a `recording`.
  init(
    gain: consuming GainControl?, from decibels: Double, player: AudioPlayer?,
    recording: RecordingWatch?, mutesInput: Bool
  ) {
    self.gain = gain
    self.player = player
    self.recording = recording
    self.mutesInput = mutesInput
    self.decibels = decibels
  }

  var hints: [String] { ["space \(isPaused ? "goes on" : "pauses")", "- + gain"] }

  func press(_ key: Key, at frame: Int) -> Bool {
    switch key {
    case .character(" "): togglePause(at: frame)
    case .character("+"), .character("="): changeGain(by: 1)
    case .character("-"): changeGain(by: -1)
    default: return false
    }
    return true
  }

  private func togglePause(at frame: Int) {
    isPaused.toggle()
    recording?.pause(isPaused, at: frame)
    if isPaused { player?.pausePlayback() } else { player?.play() }
    if mutesInput { gain?.set(isPaused ? .silence : Gain(decibels: decibels)) }
    // A recording tells of its pauses itself.
    guard recording == nil else { return }
    inform(isPaused ? "paused" : "resumed", isPaused ? "paused." : "going on.")
  }

  private func changeGain(by change: Double) {
    let range = Self.decibelRange
    decibels = min(max(range.lowerBound, decibels + change), range.upperBound)
    if gain == nil {
      player?.setGain(Gain(decibels: decibels))
    } else if !isPaused || !mutesInput {
      gain?.set(Gain(decibels: decibels))
    }
    inform("gain", "gain \(decibels.shown(1)) dB.")
  }
}

/// What the keys do while files play.
final class PlayKeys: SessionKeys {
  let hints = PlayKeys.allHints

  private static let allHints = [
    "space pauses", "left and right go 5 s back and ahead", "up and down a minute",
    "< and > from track to track", "r turns round", "[ and ] loop from here to here",
    "\\ ends the loop", "( and ) slower and faster", "- and + softer and louder", "tab compares",
  ]

  /// The same in the fewest words.
  private static let shortHints = [
    "space pauses", "arrows seek", "< > tracks", "r reverses", "[ ] \\ loop", "( ) speed",
    "- + gain",
  ]

  static let help = "Keys: \(allHints.joined(separator: ", ")), ? shows them, q ends."

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

  func press(_ key: Key, at frame: Int) -> Bool {
    switch key {
    case .left: player.seek(bySeconds: -5)
    case .right: player.seek(bySeconds: 5)
    case .up: player.seek(bySeconds: 60)
    case .down: player.seek(bySeconds: -60)
    case .character(" "): player.togglePlayPause()
    case .character("<"), .character(","): goBack()
    case .character(">"), .character("."): player.skip(by: 1)
    case .character("r"): player.toggleReversed()
    case .character("["): loopStart = player.position
    case .character("]"): closeLoop()
    case .character("\\"):
      loopStart = nil
      player.setRegion(nil, times: 1)
    case .character("("): changeSpeed(by: 1 / Self.semitone)
    case .character(")"): changeSpeed(by: Self.semitone)
    case .character("+"), .character("="): changeGain(by: 1)
    case .character("-"): changeGain(by: -1)
    case .character("\t") where choices > 0:
      chosen = (chosen + 1) % choices
      player.choose(chosen)
    default: return false
    }
    return true
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

  /// What a person watches; nil where nothing is played.
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
