import AudioBasics
import AudioSessions

/// The keys that work while a microphone is recorded or played: space pauses, - and + change its
/// gain, u mutes it, and b leaves only the backing in the output.
final class MicrophoneKeys: KeyResponder {
  /// The range in dB within which the keys change the gain.
  private static let decibelRange = -60.0...30.0

  /// The objects and functions that the keys act on.
  struct KeyTargets {
    /// The function that sets the gain of the microphone; nil if it cannot be changed.
    var setGain: ((Gain) -> Void)?
    /// The function that sets the gain of the microphone in the output; nil if it is not separate.
    var setMonitorGain: ((Gain) -> Void)?
    /// The player of the files that are mixed in.
    var player: AudioPlayer?
    /// Whether `setGain` applies to the output, so that a pause mutes the output.
    var isOfOutput = false
    /// Whether the output contains a microphone and a backing.
    var hasBacking = false
    /// Whether the output contains only the backing, so that `setGain` changes the gain of the
    /// backing.
    var isOfBacking = false
    /// The function that pauses the recording at a frame (true) or resumes it (false); nil if
    /// nothing is recorded.
    var pauseRecording: ((Bool, Int) -> Void)?
    /// Whether the session can be paused.
    var pauses = true
  }

  private let targets: KeyTargets
  private var decibels: Double
  private let firstDecibels: Double
  private var isPaused = false
  private var isMuted = false
  private var isBackingAlone = false

  /// Creates the keys for a microphone with the initial gain `decibels`.
  init(_ targets: KeyTargets, from decibels: Double) {
    self.targets = targets
    self.decibels = decibels
    firstDecibels = decibels
  }

  var bindings: [KeyBinding] {
    let hasGain = targets.setGain != nil || targets.player != nil
    var keys: [KeyBinding] = []
    if targets.pauses, hasGain || targets.pauseRecording != nil {
      keys.append(isPaused ? KeyBindings.resumption : KeyBindings.pause)
    }
    if hasGain { keys += targets.isOfBacking ? KeyBindings.backingLevel : KeyBindings.level }
    return keys + (targets.hasBacking ? KeyBindings.backing : [])
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
    targets.pauseRecording?(isPaused, frame)
    if isPaused { targets.player?.pause() } else { targets.player?.play() }
    apply()
    // A recording reports its pauses itself.
    guard targets.pauseRecording == nil else { return }
    inform(isPaused ? "paused" : "resumed", isPaused ? "paused." : "resumed.")
  }

  /// Sets the gains that result from the current state.
  private func apply() {
    let isSilent = isMuted || (targets.isOfOutput && (isPaused || isBackingAlone))
    let gain = isSilent ? Gain.silence : Gain(decibels: decibels)
    if let setGain = targets.setGain { setGain(gain) } else { targets.player?.gain = gain }
    targets.setMonitorGain?(isBackingAlone ? .silence : .unity)
  }
}
