import AudioBasics
import AudioFiles
import AudioSessions
import Glibc

/// What the keys do while files play.
final class PlaybackKeys: KeyResponder {
  var bindings: [KeyBinding] {
    KeyBindings.playback + (choices > 0 ? KeyBindings.comparison : [])
  }

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

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .togglePause: player.togglePlayPause()
    // What cannot be sought is told as an event.
    case .seek(let seconds): try? player.seek(bySeconds: seconds)
    case .previousTrack: goBack()
    case .nextTrack: player.skip(by: 1)
    case .nextSource:
      chosen = (chosen + 1) % choices
      player.choose(chosen)
    case .toggleReversed: player.toggleReversed()
    case .changeSpeed(let semitones): changeSpeed(by: pow(Self.semitone, semitones))
    case .startLoop: loopStart = player.position
    case .closeLoop: closeLoop()
    case .endLoop:
      loopStart = nil
      player.setRegion(nil, times: 1)
    case .changeGain(let change): changeGain(by: change)
    case .end, .showKeys, .startRecording, .setMarker, .split, .toggleDim: break
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

  private func changeSpeed(by factor: Double) {
    let changed = (speed * factor).clamped(to: TrackSettings.speeds)
    // Back at the ordinary speed nothing is converted needlessly.
    speed = abs(changed - 1) < 0.01 ? 1 : changed
    player.setSpeed(speed)
  }

  private func changeGain(by change: Double) {
    decibels = (decibels + change).clamped(to: -60...12)
    player.setGain(Gain(decibels: decibels))
  }

  /// What a person watches; nil where nothing is played.
  var state: PlaybackState? {
    guard let time = player.time, let facts = player.current?.facts else { return nil }
    return PlaybackState(
      title: "Playing " + FileName.last(of: facts.name), place: place(time),
      fraction: time.total.map { $0 > 0 ? time.current / $0 : 0 },
      keys: (bindings + KeyBindings.session).briefs)
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
