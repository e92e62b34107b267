import AudioBasics
import AudioFiles
import AudioSessions
import Glibc

/// The keys of `play`, which work while files play.
final class PlaybackKeys: KeyResponder {
  var bindings: [KeyBinding] {
    KeyBindings.playback + (choices > 0 ? KeyBindings.comparison : [])
  }

  /// The range in dB within which the keys change the gain.
  private static let decibelRange = -60.0...12.0
  /// The twelfth root of two.
  private static let semitone = 1.0594630943592953

  private let player: AudioPlayer
  private let choices: Int
  private let itemCount: Int
  private var chosen = 0
  private var decibels = 0.0
  private var isMuted = false
  private var speed: Double
  /// The number of the track to which `speed` applies.
  private var speedTrack: Int?
  /// The start of a loop: the number of the track, and the frame in its source.
  private var loopStart: (track: Int, frame: Int)?

  /// Creates the keys for `player`, which has `itemCount` items in its queue. `choices` is the
  /// number of sources that are compared, or 0.
  init(_ player: AudioPlayer, choices: Int, itemCount: Int, speed: Double) {
    self.player = player
    self.itemCount = itemCount
    self.speed = speed
    self.choices = choices
  }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .togglePause:
      let pauses = player.state != .paused
      player.togglePlayPause()
      report(pauses ? "paused" : "resumed", pauses ? "paused." : "resumed.")
    // The player reports a source that cannot seek as an event.
    case .seek(let seconds): try? player.seek(bySeconds: seconds)
    case .previousTrack: player.skipBack()
    case .nextTrack: player.skip(by: 1)
    case .nextSource:
      chosen = (chosen + 1) % choices
      player.choose(chosen)
      report("source", "source \(chosen + 1).")
    case .toggleReversed:
      let reverses = player.settings?.range.isReversed != true
      player.toggleReversed()
      reportMove("direction", reverses ? "backwards." : "forwards.")
    case .changeSpeed(let semitones): changeSpeed(by: pow(Self.semitone, semitones))
    case .startLoop:
      loopStart = player.position.flatMap { frame in
        player.current.map { (track: $0.number, frame: frame) }
      }
    case .closeLoop: closeLoop()
    case .endLoop:
      loopStart = nil
      player.setRegion(nil, times: 1)
      reportMove("loop", "no loop.")
    case .changeGain(let change):
      decibels = (decibels + change).clamped(to: Self.decibelRange)
      applyGain()
      report("gain", "gain \(decibels.shown(1)) dB.")
    case .toggleMute:
      isMuted.toggle()
      applyGain()
      report(isMuted ? "muted" : "notMuted", isMuted ? "muted." : "no longer muted.")
    case .end, .showKeys, .startRecording, .setMarker, .split, .toggleDim, .toggleBackingAlone:
      break
    }
  }

  private func closeLoop() {
    // The frame is only meaningful for the track in which it was set.
    guard let start = loopStart, start.track == player.current?.number,
      let end = player.position, start.frame != end
    else { return }
    let region = min(start.frame, end)..<max(start.frame, end)
    player.setRegion(region, times: nil)
    reportMove("loop", "loop of the frames \(region.lowerBound) to \(region.upperBound).")
  }

  /// Reports a change as an event. A person sees it on the screen.
  private func report(_ code: String, _ message: String) {
    if OutputMode.current.json { inform(code, message) }
  }

  /// Reports a change that only a source that can seek supports. Otherwise the player reports that
  /// the change is refused.
  private func reportMove(_ code: String, _ message: String) {
    if player.current?.info.supportsSeeking != false { report(code, message) }
  }

  private func changeSpeed(by factor: Double) {
    // Each track begins at the speed of its options. Within a track, the speed is the one that the
    // last key requested, because it may not be in effect yet.
    let track = player.current?.number
    if track != speedTrack { speed = player.settings?.speed ?? speed }
    speedTrack = track
    let changed = (speed * factor).clamped(to: TrackSettings.speeds)
    // A speed near 1 becomes exactly 1, which needs no conversion.
    speed = abs(changed - 1) < 0.01 ? 1 : changed
    player.setSpeed(speed)
    reportMove("speed", "speed \(speed.shown(3)).")
  }

  private func applyGain() { player.gain = isMuted ? .silence : Gain(decibels: decibels) }

  /// The state for the screen; nil if nothing is playing or being opened.
  var state: LiveState? {
    var state = LiveState()
    guard let time = player.time, let track = player.current else {
      guard let next = player.opening else { return nil }
      state.title =
        "Opening \(TrackTitle.positionText(next.index, of: itemCount))\(TrackTitle.shortened(next.name))"
      state.clock = ClockTime(0, showsTenths: true).text
      return state
    }
    // The position is first, because a long name is cut at the end of the line.
    let positionText = TrackTitle.positionText(track.index, of: itemCount)
    state.title = "Playing \(positionText)\(player.announcedTitle ?? TrackTitle(track.info).name)"
    state.clock = ClockTime(time.current, showsTenths: true).text
    if let total = time.total {
      state.clock += " of " + ClockTime(total).text
      state.fraction = total > 0 ? time.current / total : 0
      state.left = left(time.current, of: total).map { ClockTime($0).text + " left" }
    }
    return state
  }

  /// Returns the seconds until the end of this source is reached; nil if they are unknown.
  private func left(_ current: Double, of total: Double) -> Double? {
    guard let settings = player.settings, settings.range == PlaybackRange() else { return nil }
    return max(0, total - current) / settings.speed
  }

  /// The settings that differ from their defaults.
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
