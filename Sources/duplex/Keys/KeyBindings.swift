import ProgramRuntime
import RealtimeAudio

/// An action of a session that is triggered by a key or a signal.
enum KeyAction: Equatable {
  case end, showKeys
  case startRecording, togglePause, setMarker, split, toggleDim, toggleMute, toggleBackingAlone
  case changeGain(decibels: Double)
  case seek(seconds: Double)
  case previousTrack, nextTrack, nextSource
  case toggleReversed, changeSpeed(semitones: Double)
  case startLoop, closeLoop, endLoop
}

/// The binding of some keys to their actions, and the signal with the same effect.
struct KeyBinding {
  /// The keys in words: `left and right`.
  let name: String
  let meaning: String
  /// The meaning in the fewest words, for the screen; nil if it is not shown there.
  let brief: String?
  let actions: [Key: KeyAction]
  let signal: (UserSignal, KeyAction)?

  init(
    _ name: String, _ meaning: String, brief: String? = nil, _ actions: [Key: KeyAction],
    signal: (UserSignal, KeyAction)? = nil
  ) {
    (self.name, self.meaning, self.brief) = (name, meaning, brief)
    (self.actions, self.signal) = (actions, signal)
  }

  /// The binding as an entry of a list of keys: `left and right seek 5 s back and ahead`.
  var sentence: String { "\(name) \(meaning)" }
}

/// All keys of all commands. No other type binds keys.
enum KeyBindings {
  /// The keys of every session.
  static let session = [
    KeyBinding("?", "shows all keys", brief: "? keys", ["?": .showKeys]),
    KeyBinding("q", "ends", brief: "q ends", ["q": .end]),
  ]

  /// The keys while files play.
  static let playback = [
    KeyBinding("space", "pauses", brief: "space pauses", [" ": .togglePause]),
    KeyBinding(
      "left and right", "seek 5 s back and ahead", brief: "arrows seek",
      [.left: .seek(seconds: -5), .right: .seek(seconds: 5)]),
    KeyBinding(
      "up and down", "seek 1 min ahead and back",
      [.up: .seek(seconds: 60), .down: .seek(seconds: -60)]),
    KeyBinding(
      "< and >", "change to the previous and next track", brief: "< > tracks",
      ["<": .previousTrack, ",": .previousTrack, ">": .nextTrack, ".": .nextTrack]),
    KeyBinding("r", "reverses", brief: "r reverses", ["r": .toggleReversed]),
    KeyBinding(
      "[ and ]", "set the start and end of a loop", brief: "[ ] \\ loop",
      ["[": .startLoop, "]": .closeLoop]),
    KeyBinding("\\", "ends the loop", ["\\": .endLoop]),
    KeyBinding(
      "( and )", "lower and raise the speed", brief: "( ) speed",
      ["(": .changeSpeed(semitones: -1), ")": .changeSpeed(semitones: 1)]),
    KeyBinding("- and +", "change the gain", brief: "- + gain", gain),
    mute,
  ]

  /// The keys while files are compared.
  static let comparison = [
    KeyBinding(
      "tab", "changes to the next source of --compare", brief: "tab compares", ["\t": .nextSource])
  ]

  /// The keys while a microphone is recorded or played.
  static let microphone = [pause] + level
  static let pause = KeyBinding(
    "space", "pauses and resumes", brief: "space pauses", [" ": .togglePause])
  /// The key while the microphone is paused.
  static let resumption = KeyBinding(
    "space", "resumes", brief: "space resumes", [" ": .togglePause])

  /// The keys while there is a gain to change. Of the microphone keys an overdub has only these,
  /// because it cannot be paused.
  static let level = [
    KeyBinding("- and +", "change the gain", brief: "- + gain", gain), mute,
  ]
  private static let mute = KeyBinding("u", "mutes", brief: "u mute", ["u": .toggleMute])

  /// The same keys in an overdub without `--monitor`, whose output contains only the backing.
  static let backingLevel = [
    KeyBinding("- and +", "change the gain of the backing", brief: "- + backing", gain),
    KeyBinding("u", "mutes the backing", brief: "u mute backing", ["u": .toggleMute]),
  ]

  /// The keys while the output contains a microphone and a backing.
  static let backing = [
    KeyBinding(
      "b", "mutes the microphone in the headphones", brief: "b mute mic", ["b": .toggleBackingAlone]
    )
  ]

  /// The keys of a recording that waits for its start.
  static let start = [
    KeyBinding(
      "space or Enter", "starts", brief: "space starts",
      [" ": .startRecording, "\n": .startRecording, "\r": .startRecording],
      signal: (.split, .startRecording))
  ]

  /// The keys while a take is recorded, which is a single file.
  static let take = [
    KeyBinding(
      "m or SIGUSR2", "sets a marker", brief: "m marker", ["m": .setMarker],
      signal: (.mark, .setMarker))
  ]

  /// The keys while a recording is made.
  static let recording =
    take + [
      KeyBinding(
        "s or SIGUSR1", "starts a new file", brief: "s split", ["s": .split],
        signal: (.split, .split))
    ]

  /// The keys while a microphone is played.
  static let monitoring = [
    KeyBinding("d", "attenuates the output", brief: "d dim", ["d": .toggleDim])
  ]

  private static let gain: [Key: KeyAction] = [
    "-": .changeGain(decibels: -1), "+": .changeGain(decibels: 1), "=": .changeGain(decibels: 1),
  ]

  /// The keys of each command that has more than the keys of every session.
  static let commands = [
    "play": playback + comparison + session,
    "record": microphone + recording + monitoring + backing + session,
    "monitor": microphone + recording + monitoring + backing + session,
    "overdub": level + take + monitoring + backing + session,
  ]

  /// Returns the sentence about keys in the help of `command`.
  static func help(of command: String) -> String {
    "Keys: \((commands[command] ?? session).map(\.sentence).joined(separator: ", "))."
  }
}

extension [KeyBinding] {
  /// Returns the action of `key`; nil if it has none.
  func action(for key: Key) -> KeyAction? {
    lazy.compactMap { $0.actions[key] }.first
  }

  /// Returns the action of `signal`; nil if it has none.
  func action(for signal: UserSignal) -> KeyAction? {
    lazy.compactMap(\.signal).first { $0.0 == signal }?.1
  }

  /// The short descriptions for the screen.
  var briefs: [String] { compactMap(\.brief) }
}

extension Keyboard.Press {
  /// Whether the key ends the session.
  var ends: Bool {
    if case .key(let key) = self { KeyBindings.session.action(for: key) == .end } else { false }
  }
}

/// A part of a session that keys and signals act on.
protocol KeyResponder: AnyObject {
  /// The keys that have an effect now.
  var bindings: [KeyBinding] { get }

  /// The states that the user has changed by keys, for the screen, such as "PAUSED".
  var states: [String] { get }

  /// Performs the action of a key or a signal at `frame`.
  func perform(_ action: KeyAction, at frame: Int)
}

extension KeyResponder {
  var states: [String] { [] }
}

extension Key {
  /// The name in messages; nil if the key has none.
  var name: String? {
    switch self {
    case .character(" "): "space"
    case .character(let character): character.isASCII && character > " " ? "\(character)" : nil
    case .left: "left"
    case .right: "right"
    case .up: "up"
    case .down: "down"
    }
  }
}

extension [any KeyResponder] {
  /// The keys of all responders, without those that a later responder binds as well.
  var bindings: [KeyBinding] {
    indices.flatMap { index in
      self[index].bindings.filter { binding in
        !self[(index + 1)...].contains { later in
          binding.actions.keys.allSatisfy { later.bindings.action(for: $0) != nil }
        }
      }
    }
  }

  /// Performs, at `frame`, the action that `action` returns for the last responder with one.
  /// Returns whether there is such a responder.
  @discardableResult
  func perform(at frame: Int, _ action: ([KeyBinding]) -> KeyAction?) -> Bool {
    for responder in reversed() {
      guard let action = action(responder.bindings) else { continue }
      responder.perform(action, at: frame)
      return true
    }
    return false
  }
}
