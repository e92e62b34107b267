import AudioBasics
import AudioSessions
import RealtimeAudio

/// What the keys do while a microphone is recorded or heard: space pauses, - and + change its gain.
final class MixerKeys {
  /// Decibels within which the keys move the gain.
  private static let decibelRange = -60.0...30.0

  /// The gain of the microphone; nil where it is not heard.
  private var gain: GainControl?
  /// What is mixed in.
  private let player: AudioPlayer?
  /// Whether a pause silences the microphone, because it is heard.
  private let mutesInput: Bool
  private var decibels: Double
  private var isPaused = false

  /// Keys for a microphone that begins at `decibels`, where `gain` changes it, and for what `player` mixes
  /// in.
  init(
    gain: consuming GainControl?, from decibels: Double, player: AudioPlayer?, mutesInput: Bool
  ) {
    self.gain = gain
    self.player = player
    self.mutesInput = mutesInput
    self.decibels = decibels
  }

  /// The keys, each with its word.
  var hints: [String] { ["space \(isPaused ? "goes on" : "pauses")", "- + gain"] }

  /// Does what `key` asks for at `frame`; false where it means nothing here.
  func press(_ key: Key, recording: RecordingWatch?, at frame: Int) -> Bool {
    switch key {
    case .character(" "): togglePause(recording, at: frame)
    case .character("+"), .character("="): changeGain(by: 1)
    case .character("-"): changeGain(by: -1)
    default: return false
    }
    return true
  }

  private func togglePause(_ recording: RecordingWatch?, at frame: Int) {
    isPaused.toggle()
    recording?.pause(isPaused, at: frame)
    if isPaused { player?.pausePlayback() } else { player?.play() }
    if mutesInput { gain?.set(isPaused ? .silence : Gain(decibels: decibels)) }
    // A recording tells of its pauses itself.
    guard recording == nil else { return }
    Notice.info(isPaused ? "paused" : "resumed", isPaused ? "paused." : "going on.").report()
  }

  private func changeGain(by change: Double) {
    let range = Self.decibelRange
    decibels = min(max(range.lowerBound, decibels + change), range.upperBound)
    if gain == nil {
      player?.setGain(Gain(decibels: decibels))
    } else if !isPaused || !mutesInput {
      gain?.set(Gain(decibels: decibels))
    }
    Notice.info("gain", "gain \(decibels.shown(1)) dB.").report()
  }
}
