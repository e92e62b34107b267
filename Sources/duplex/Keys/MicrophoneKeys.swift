import AudioBasics
import AudioSessions

/// What the keys do while a microphone is recorded or played: space pauses, - and + change its gain.
final class MicrophoneKeys: KeyResponder {
  /// Decibels within which the keys move the gain.
  private static let decibelRange = -60.0...30.0

  /// The gain of the microphone; nil where it is not played.
  private var gain: GainControl?
  /// What is mixed in.
  private let player: AudioPlayer?
  /// Pauses what is recorded, or goes on with it, at a frame; nil where nothing is recorded.
  private let pauseRecording: ((Bool, Int) -> Void)?
  /// Whether a pause silences the microphone, because it is played.
  private let mutesInput: Bool
  private var decibels: Double
  private var isPaused = false

  /// Keys for a microphone that begins at `decibels`, where `gain` changes it, for what `player` mixes
  /// in, and for what is recorded.
  init(
    gain: consuming GainControl?, from decibels: Double, player: AudioPlayer?,
    mutesInput: Bool, pauseRecording: ((Bool, Int) -> Void)?
  ) {
    self.gain = gain
    self.player = player
    self.pauseRecording = pauseRecording
    self.mutesInput = mutesInput
    self.decibels = decibels
  }

  var bindings: [KeyBinding] { isPaused ? KeyBindings.pause : KeyBindings.microphone }

  func perform(_ action: KeyAction, at frame: Int) {
    switch action {
    case .togglePause: togglePause(at: frame)
    case .changeGain(let change): changeGain(by: change)
    default: break
    }
  }

  private func togglePause(at frame: Int) {
    isPaused.toggle()
    pauseRecording?(isPaused, frame)
    if isPaused { player?.pause() } else { player?.play() }
    if mutesInput { gain?.set(isPaused ? .silence : Gain(decibels: decibels)) }
    // A recording tells of its pauses itself.
    guard pauseRecording == nil else { return }
    inform(isPaused ? "paused" : "resumed", isPaused ? "paused." : "going on.")
  }

  private func changeGain(by change: Double) {
    decibels = (decibels + change).clamped(to: Self.decibelRange)
    if gain == nil {
      player?.setGain(Gain(decibels: decibels))
    } else if !isPaused || !mutesInput {
      gain?.set(Gain(decibels: decibels))
    }
    inform("gain", "gain \(decibels.shown(1)) dB.")
  }
}
