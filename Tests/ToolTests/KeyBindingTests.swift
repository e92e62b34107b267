import AudioFiles
import AudioSessions
import ProgramRuntime
import RealtimeAudio
import Testing

@testable import duplex

@Suite struct KeyBindingTests {
  @Test func `README names each key of each command`() throws {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    // The two lists of keys, each up to the next list or paragraph.
    let lists = try TextFile.read("/\(folder)/README.md", limit: 1 << 20)
      .split(separator: "\n\n").flatMap { $0.split(separator: "\n- ") }
      .filter { $0.hasPrefix("**Keys**") || $0.hasPrefix("Keys:") }
    #expect(lists.count == 2)
    let readme = lists.joined(separator: " ").filter { $0 != "`" }
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for binding in KeyBindings.commands.values.joined() {
      #expect(readme.contains(binding.sentence), "\(binding.sentence)")
    }
  }

  @Test(arguments: [
    KeyBindings.session, KeyBindings.playback + KeyBindings.comparison,
    KeyBindings.microphone + KeyBindings.recording + KeyBindings.monitoring + KeyBindings.backing,
    KeyBindings.level + KeyBindings.take, KeyBindings.start + KeyBindings.take,
  ])
  func `no key has two actions in one session`(bindings: [KeyBinding]) {
    let keys = bindings.flatMap(\.actions.keys)
    #expect(Set(keys).count == keys.count)
  }

  @Test func `a key has the same action in every command`() {
    var meanings: [Key: KeyAction] = [:]
    for (key, action) in KeyBindings.commands.values.joined().flatMap(\.actions) {
      #expect(meanings.updateValue(action, forKey: key) ?? action == action, "\(key)")
    }
  }

  @Test func `an interval of 1 s accepts one notice per second`() {
    var keys = NoticeInterval(seconds: 1)
    let accepted = (0..<300).filter { keys.takes(at: 7 + Double($0) / 128) }
    #expect(accepted == [0, 128, 256])
  }

  @Test func `a key is performed by the last part of a session that binds it`() {
    let first = Responder(KeyBindings.microphone + KeyBindings.monitoring)
    let last = Responder(KeyBindings.start + KeyBindings.recording)
    let all: [any KeyResponder] = [first, last]
    #expect(
      all.bindings.briefs == ["- + gain", "u mute", "d dim", "space starts", "m marker", "s split"])
    for key in [" ", "d", "m", "+", "x"] as [Key] {
      all.perform(at: 7) { $0.action(for: key) }
    }
    all.perform(at: 7) { $0.action(for: UserSignal.split) }
    #expect(first.performed == [.toggleDim, .changeGain(decibels: 1)])
    #expect(last.performed == [.startRecording, .setMarker, .startRecording])
  }

  @Test(arguments: [
    (false, false, [] as [String]), (true, false, ["space"]),
    (false, true, ["space", "- and +", "u"]),
    (true, true, ["space", "- and +", "u"]),
  ])
  func `a microphone has keys only for the actions that are available`(
    isRecorded: Bool, isHeard: Bool, names: [String]
  ) {
    var targets = MicrophoneKeys.KeyTargets()
    if isRecorded { targets.pauseRecording = { _, _ in } }
    if isHeard { targets.gain = .input(set: { _ in }, setMonitor: nil) }
    #expect(MicrophoneKeys(targets, from: 0).bindings.map(\.name) == names)
  }

  private final class Responder: KeyResponder {
    let bindings: [KeyBinding]
    private(set) var performed: [KeyAction] = []

    init(_ bindings: [KeyBinding]) {
      self.bindings = bindings
    }

    func perform(_ action: KeyAction, at frame: Int) { performed.append(action) }
  }
}
