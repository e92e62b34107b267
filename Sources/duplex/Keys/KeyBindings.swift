import RealtimeAudio

/// An action that a key, or a signal, asks of a session.
enum KeyAction: Equatable {
  case end, showKeys
  case startRecording, togglePause, setMarker, split, toggleDim, toggleMute, toggleBackingAlone
  case changeGain(decibels: Double)
  case seek(seconds: Double)
  case previousTrack, nextTrack, nextSource
  case toggleReversed, changeSpeed(semitones: Double)
  case startLoop, closeLoop, endLoop
}

/// The binding of some keys to their actions, and the signal that does the same.
struct KeyBinding {
  /// The keys for a person: `left and right`.
  let name: String
  let meaning: String
  /// The same in the fewest words, for the screen; nil where it has no room for them.
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

  /// For a list of keys: `left and right go 5 s back and ahead`.
  var sentence: String { "\(name) \(meaning)" }
}

/// All keys of all commands. Nothing else binds a key.
enum KeyBindings {
  /// In every session.
  static let session = [
    KeyBinding("?", "shows all keys", brief: "? keys", ["?": .showKeys]),
    KeyBinding("q", "ends", brief: "q ends", ["q": .end]),
  ]

  /// While files play.
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

  /// While files are compared.
  static let comparison = [
    KeyBinding(
      "tab", "changes to the next source of --compare", brief: "tab compares", ["\t": .nextSource])
  ]

  /// While a microphone is recorded or played.
  static let microphone = [pause] + level
  static let pause = KeyBinding(
    "space", "pauses and resumes", brief: "space pauses", [" ": .togglePause])
  /// While it is paused.
  static let resumption = KeyBinding(
    "space", "resumes", brief: "space resumes", [" ": .togglePause])

  /// While there is a gain to change; all that an overdub has, which knows no pause.
  static let level = [
    KeyBinding("- and +", "change the gain", brief: "- + gain", gain), mute,
  ]
  private static let mute = KeyBinding("u", "mutes", brief: "u mute", ["u": .toggleMute])

  /// The same in an overdub without `--monitor`, whose output has the backing only.
  static let backingLevel = [
    KeyBinding("- and +", "change the gain of the backing", brief: "- + backing", gain),
    KeyBinding("u", "mutes the backing", brief: "u mute backing", ["u": .toggleMute]),
  ]

  /// While a microphone is heard beside what is played.
  static let backing = [
    KeyBinding(
      "b", "mutes the microphone in the headphones", brief: "b mute mic", ["b": .toggleBackingAlone]
    )
  ]

  /// Until a recording that waits is started.
  static let start = [
    KeyBinding(
      "space or Enter", "starts", brief: "space starts",
      [" ": .startRecording, "\n": .startRecording, "\r": .startRecording],
      signal: (.split, .startRecording))
  ]

  /// While a take is recorded, which is one file.
  static let take = [
    KeyBinding(
      "m or SIGUSR2", "sets a marker", brief: "m marker", ["m": .setMarker],
      signal: (.mark, .setMarker))
  ]

  /// While something is recorded.
  static let recording =
    take + [
      KeyBinding(
        "s or SIGUSR1", "starts a new file", brief: "s split", ["s": .split],
        signal: (.split, .split))
    ]

  /// While a microphone is played.
  static let monitoring = [
    KeyBinding("d", "attenuates the output", brief: "d dim", ["d": .toggleDim])
  ]

  private static let gain: [Key: KeyAction] = [
    "-": .changeGain(decibels: -1), "+": .changeGain(decibels: 1), "=": .changeGain(decibels: 1),
  ]

  /// The keys of each command that has some of its own.
  static let commands = [
    "play": playback + comparison + session,
    "record": microphone + recording + monitoring + backing + session,
    "monitor": microphone + recording + monitoring + backing + session,
    "overdub": level + take + monitoring + backing + session,
  ]

  /// What the help of `command` says of its keys.
  static func help(of command: String) -> String {
    "Keys: \((commands[command] ?? session).map(\.sentence).joined(separator: ", "))."
  }
}

extension [KeyBinding] {
  /// What `key` asks for here; nil where it means nothing.
  func action(for key: Key) -> KeyAction? {
    lazy.compactMap { $0.actions[key] }.first
  }

  /// What `signal` asks for here; nil where it means nothing.
  func action(for signal: UserSignal) -> KeyAction? {
    lazy.compactMap(\.signal).first { $0.0 == signal }?.1
  }

  /// For the screen.
  var briefs: [String] { compactMap(\.brief) }
}

extension Keyboard.Press {
  /// Whether it asks for the end.
  var ends: Bool {
    if case .key(let key) = self { KeyBindings.session.action(for: key) == .end } else { false }
  }
}

/// A part of a session that keys and signals act on.
protocol KeyResponder: AnyObject {
  /// The keys that mean something to it now.
  var bindings: [KeyBinding] { get }

  /// What the user has changed by keys, for the screen: "PAUSED".
  var states: [String] { get }

  /// Does what a key or a signal asks for at `frame`.
  func perform(_ action: KeyAction, at frame: Int)
}

extension KeyResponder {
  var states: [String] { [] }
}

extension Key {
  /// What a person calls it; nil where it has no name.
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
  /// The keys of all of them, without those that a later one has in their place.
  var bindings: [KeyBinding] {
    indices.flatMap { index in
      self[index].bindings.filter { binding in
        !self[(index + 1)...].contains { later in
          binding.actions.keys.allSatisfy { later.bindings.action(for: $0) != nil }
        }
      }
    }
  }

  /// Lets the last one for which there is an `action` perform it at `frame`. Answers with whether
  /// there is one.
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
