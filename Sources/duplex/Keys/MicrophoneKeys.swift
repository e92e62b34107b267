import AudioBasics
import AudioSessions

/// The keys that work while a microphone is recorded or played: space pauses, - and + change its
/// gain, u mutes it, b leaves the backing alone in the output.
final class MicrophoneKeys: KeyResponder {
  /// Decibels within which the keys move the gain.
  private static let decibelRange = -60.0...30.0

  /// What the keys act on.
  struct Reach {
    /// Sets the gain of the microphone; nil where there is none to change.
    var setGain: ((Gain) -> Void)?
    /// Sets the gain of the microphone in the output, where that is another.
    var setMonitorGain: ((Gain) -> Void)?
    /// What is mixed in.
    var player: AudioPlayer?
    /// Whether `gain` is that of the output, so that a pause silences it.
    var isOfOutput = false
    /// Whether a microphone is heard beside what is played.
    var hasBacking = false
    /// Whether the output has the backing only, so that `setGain` changes its gain.
    var isOfBacking = false
    /// Pauses what is recorded, or goes on with it, at a frame; nil where nothing is recorded.
    var pauseRecording: ((Bool, Int) -> Void)?
    /// Whether it may pause.
    var pauses = true
  }

  private let reach: Reach
  private var decibels: Double
  private let firstDecibels: Double
  private var isPaused = false
  private var isMuted = false
  private var isBackingAlone = false

  /// Keys for a microphone whose gain begins at `decibels`.
  init(_ reach: Reach, from decibels: Double) {
    self.reach = reach
    self.decibels = decibels
    firstDecibels = decibels
  }

  var bindings: [KeyBinding] {
    let hasGain = reach.setGain != nil || reach.player != nil
    var keys: [KeyBinding] = []
    if reach.pauses, hasGain || reach.pauseRecording != nil {
      keys.append(isPaused ? KeyBindings.resumption : KeyBindings.pause)
    }
    if hasGain { keys += reach.isOfBacking ? KeyBindings.backingLevel : KeyBindings.level }
    return keys + (reach.hasBacking ? KeyBindings.backing : [])
  }

  var states: [String] {
    var states: [String] = []
    if isPaused { states.append("PAUSED") }
    if isMuted { states.append("MUTED") }
    if isBackingAlone { states.append("BACKING ALONE") }
    if decibels != firstDecibels || decibels != 0 { states.append("gain \(decibels.shown(1)) dB") }
    return states
  }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .togglePause: togglePause(at: frame)
    case .toggleMute:
      isMuted.toggle()
      apply()
      inform(isMuted ? "muted" : "notMuted", isMuted ? "muted." : "no longer muted.")
    case .toggleBackingAlone:
      isBackingAlone.toggle()
      apply()
      inform(
        isBackingAlone ? "backingAlone" : "notBackingAlone",
        isBackingAlone
          ? "only the backing is heard." : "the microphone is heard again.")
    case .changeGain(let change):
      decibels = (decibels + change).clamped(to: Self.decibelRange)
      apply()
      inform("gain", "gain \(decibels.shown(1)) dB.")
    default: break
    }
  }

  private func togglePause(at frame: Int) {
    isPaused.toggle()
    reach.pauseRecording?(isPaused, frame)
    if isPaused { reach.player?.pause() } else { reach.player?.play() }
    apply()
    // A recording tells of its pauses itself.
    guard reach.pauseRecording == nil else { return }
    inform(isPaused ? "paused" : "resumed", isPaused ? "paused." : "resumed.")
  }

  /// Asks for the gains that follow.
  private func apply() {
    let isSilent = isMuted || (reach.isOfOutput && (isPaused || isBackingAlone))
    let gain = isSilent ? Gain.silence : Gain(decibels: decibels)
    if let setGain = reach.setGain { setGain(gain) } else { reach.player?.setGain(gain) }
    reach.setMonitorGain?(isBackingAlone ? .silence : .unity)
  }
}
