import AudioBasics
import AudioSessions

/// The keys that work while a microphone is recorded or played: space pauses, - and + change its
/// gain, u mutes it, and b leaves only the backing in the output.
final class MicrophoneKeys: KeyResponder {
  /// The range in dB within which the keys change the gain.
  private static let decibelRange = -60.0...30.0

  /// The objects and functions that the keys act on.
  struct KeyTargets {
    /// The sound whose gain the keys change.
    var gain = GainTarget.player
    /// The player of the files that are mixed in.
    var player: AudioPlayer?
    /// The function that pauses the recording at a frame (true) or resumes it (false); nil if
    /// nothing is recorded.
    var pauseRecording: ((Bool, Int) -> Void)?
    /// Whether the session can be paused.
    var pauses = true
  }

  /// A sound whose gain the keys change, with the function that sets it.
  enum GainTarget {
    /// The files of the player, if there is one: the output contains no microphone.
    case player
    /// The whole input. `setMonitor` also sets the gain of the microphone in the output; it is nil
    /// if the output does not contain a microphone and a backing.
    case input(set: (Gain) -> Void, setMonitor: ((Gain) -> Void)?)
    /// The microphone in the output, which a pause mutes. `hasBacking` states whether the output
    /// contains a backing as well.
    case output(set: (Gain) -> Void, hasBacking: Bool)
    /// The whole output, which contains only a backing.
    case backing(set: (Gain) -> Void)

    /// Whether the output contains a microphone and a backing.
    var hasBacking: Bool {
      switch self {
      case .player, .backing: false
      case .input(_, let setMonitor): setMonitor != nil
      case .output(_, let hasBacking): hasBacking
      }
    }
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
    var keys: [KeyBinding] = []
    if targets.pauses, hasGain || targets.pauseRecording != nil {
      keys.append(isPaused ? KeyBindings.resumption : KeyBindings.pause)
    }
    if case .backing = targets.gain {
      keys += KeyBindings.backingLevel
    } else if hasGain {
      keys += KeyBindings.level
    }
    return keys + (targets.gain.hasBacking ? KeyBindings.backing : [])
  }

  /// Whether there is a sound whose gain can be changed.
  private var hasGain: Bool {
    if case .player = targets.gain { targets.player != nil } else { true }
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
    func gain(isSilent: Bool = false) -> Gain {
      isMuted || isSilent ? .silence : Gain(decibels: decibels)
    }
    switch targets.gain {
    case .player: targets.player?.gain = gain(isSilent: isPaused)
    case .input(let set, let setMonitor):
      set(gain())
      setMonitor?(isBackingAlone ? .silence : .unity)
    case .output(let set, _): set(gain(isSilent: isPaused || isBackingAlone))
    case .backing(let set): set(gain())
    }
  }
}
