import AudioBasics
import AudioFiles
import AudioSessions
import Glibc

/// The keys of `play`, which work while files play.
final class PlaybackKeys: KeyResponder {
  var bindings: [KeyBinding] {
    KeyBindings.playback + (choices > 0 ? KeyBindings.comparison : [])
  }

  /// The twelfth root of two.
  private static let semitone = 1.0594630943592953

  private let player: AudioPlayer
  private let choices: Int
  private let itemCount: Int
  private var chosen = 0
  private var decibels = 0.0
  private var isMuted = false
  private var speed: Double
  /// The number of the track that has this speed.
  private var speedTrack: Int?
  /// Where a loop is to begin: the number of the track, and the frame of its source.
  private var loopStart: (track: Int, frame: Int)?

  /// Steers `player`, with `itemCount` items in its queue, whose sources are compared where there
  /// are `choices` of them.
  init(_ player: AudioPlayer, choices: Int, itemCount: Int, speed: Double) {
    self.player = player
    self.itemCount = itemCount
    self.speed = speed
    self.choices = choices
  }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .togglePause: player.togglePlayPause()
    // What cannot be sought is told as an event.
    case .seek(let seconds): try? player.seek(bySeconds: seconds)
    case .previousTrack: player.skipBack()
    case .nextTrack: player.skip(by: 1)
    case .nextSource:
      chosen = (chosen + 1) % choices
      player.choose(chosen)
    case .toggleReversed: player.toggleReversed()
    case .changeSpeed(let semitones): changeSpeed(by: pow(Self.semitone, semitones))
    case .startLoop:
      loopStart = player.position.flatMap { frame in
        player.current.map { (track: $0.number, frame: frame) }
      }
    case .closeLoop: closeLoop()
    case .endLoop:
      loopStart = nil
      player.setRegion(nil, times: 1)
    case .changeGain(let change):
      decibels = (decibels + change).clamped(to: -60...12)
      applyGain()
    case .toggleMute:
      isMuted.toggle()
      applyGain()
    case .end, .showKeys, .startRecording, .setMarker, .split, .toggleDim, .toggleBackingAlone:
      break
    }
  }

  private func closeLoop() {
    // Of another track the frame says nothing about this one.
    guard let start = loopStart, start.track == player.current?.number,
      let end = player.position, start.frame != end
    else { return }
    player.setRegion(min(start.frame, end)..<max(start.frame, end), times: nil)
  }

  private func changeSpeed(by factor: Double) {
    // Each track begins at the speed of its options. Of this one, the last key counts: what it
    // asked for may not be heard yet.
    let track = player.current?.number
    if track != speedTrack { speed = player.settings?.speed ?? speed }
    speedTrack = track
    let changed = (speed * factor).clamped(to: TrackSettings.speeds)
    // Back at the ordinary speed nothing is converted needlessly.
    speed = abs(changed - 1) < 0.01 ? 1 : changed
    player.setSpeed(speed)
  }

  private func applyGain() { player.setGain(isMuted ? .silence : Gain(decibels: decibels)) }

  /// What a person watches; nil where nothing is played, nor will be.
  var state: LiveState? {
    var state = LiveState()
    guard let time = player.time, let track = player.current else {
      guard let next = player.opening else { return nil }
      state.title =
        "Opening \(Self.place(next.index, of: itemCount))\(TrackTitle.shortened(next.name))"
      state.clock = ClockTime(0, showsTenths: true).text
      return state
    }
    // The place first: a long name is cut where the line ends.
    let place = Self.place(track.index, of: itemCount)
    state.title = "Playing \(place)\(player.announcedTitle ?? TrackTitle(track.info).name)"
    state.clock = ClockTime(time.current, showsTenths: true).text
    if let total = time.total {
      state.clock += " of " + ClockTime(total).text
      state.fraction = total > 0 ? time.current / total : 0
      state.left = left(time.current, of: total).map { ClockTime($0).text + " left" }
    }
    return state
  }

  /// Where a track stands in the order played, before its name: `3 of 40: `, for `index`, from 0
  /// on, of `count` items; nothing where there is only one.
  static func place(_ index: Int, of count: Int) -> String {
    count > 1 ? "\(index + 1) of \(count): " : ""
  }

  /// Seconds until this source has been played; nil where that is not known.
  private func left(_ current: Double, of total: Double) -> Double? {
    guard let settings = player.settings, settings.range == PlaybackRange() else { return nil }
    return max(0, total - current) / settings.speed
  }

  /// What is not as usual.
  var states: [String] {
    var states: [String] = []
    switch player.state {
    case .paused: states.append("PAUSED")
    case .waiting: states.append("waiting")
    case .idle, .playing: break
    }
    if isMuted { states.append("MUTED") }
    if let settings = player.settings {
      if settings.range.isReversed { states.append("backwards") }
      if settings.speed != 1 { states.append("\(settings.speed.shown(2)) x") }
      if settings.range.times == nil { states.append("loop") }
    }
    if decibels != 0 { states.append("gain \(Int(clamping: decibels)) dB") }
    if choices > 0 { states.append("source \(chosen + 1)") }
    return states
  }
}
