/// Options that a command accepts because it shares them with other commands, and that have no
/// effect on the given command line.
enum IgnoredOptions {
  private struct Rule {
    let commands: Set<String>
    let options: [String]
    /// Options of which at least one must be present for the others to have an effect, such as
    /// `monitor`, or `split=silence` if the value matters; empty if no option gives them one.
    var needed: [String] = []
    /// The option, with a value if needed, in whose presence the rule applies; nil if `needed`
    /// decides.
    var onlyWith: (option: String, value: String?)?
    let hint: String

    func applies(to command: String, _ options: [WrittenOption]) -> Bool {
      guard commands.contains(command) else { return false }
      if let onlyWith {
        guard let last = options.last(where: { $0.name == onlyWith.option }) else { return false }
        return onlyWith.value == nil || last.value == onlyWith.value
      }
      return !needed.contains { words in
        let parts = words.split(separator: "=")
        guard let last = options.last(where: { $0.name == parts[0] }) else { return false }
        return parts.count == 1 || last.value.map { $0 == parts[1] } == true
      }
    }
  }

  /// An option as it was written, with the following word in case it is the value.
  private struct WrittenOption {
    let name: String
    let value: String?
  }

  private static let rules = [
    Rule(
      commands: ["record"],
      options: ["headroom", "periods", "playback-device", "playback-channels", "master"],
      needed: ["monitor", "mix"], hint: "Nothing is played without --monitor or --mix."),
    Rule(
      commands: ["play"],
      options: ["capture-device", "capture-channels", "capture-volume", "master"],
      hint: "play captures nothing."),
    Rule(
      commands: ["record", "overdub"],
      options: ["limit", "limit-lookahead", "limit-true-peak", "dim", "feedback-guard"],
      needed: ["monitor"], hint: "The microphone is not played without --monitor."),
    Rule(
      commands: ["record", "monitor", "overdub"], options: ["limit-lookahead", "limit-true-peak"],
      onlyWith: ("limit", "off"), hint: "Nothing is limited with --limit off."),
    Rule(
      commands: ["record", "monitor"], options: ["hold", "tail"],
      needed: ["voice-activated", "split=silence"],
      hint: "Use the option together with --voice-activated or --split silence."),
    Rule(
      commands: ["overdub"], options: ["tempo"], needed: ["count-in"],
      hint: "The tempo is used by --count-in only."),
    Rule(
      commands: ["monitor"], options: ["overwrite"], needed: ["record"],
      hint: "Nothing is written without --record."),
    Rule(
      commands: ["latency", "tune"], options: ["overwrite"], needed: ["report"],
      hint: "Only the file of --report is replaced."),
    Rule(
      commands: ["inspect"], options: ["overwrite"], needed: ["waveform", "spectrogram"],
      hint: "Only the pictures of --waveform and --spectrogram are replaced."),
    Rule(
      commands: ["repair"], options: ["overwrite"], onlyWith: ("in-place", nil),
      hint: "No copy is written with --in-place."),
    Rule(
      commands: ["latency"],
      options: [
        "repeat", "reopen", "level", "device", "capture-device", "playback-device", "rate",
        "channels", "capture-channels", "playback-channels", "format", "period-size", "periods",
        "headroom", "resampler-quality", "master", "realtime-priority", "duration",
        "capture-volume", "playback-volume", "no-reserve",
      ],
      onlyWith: ("listen", nil), hint: "No device is used with --listen."),
    Rule(
      commands: ["tune"], options: ["headroom"],
      hint: "tune chooses the headroom of each setting that it tries."),
  ]

  /// Warns about each option in `words` that has no effect on `command`. Options set by a file of
  /// settings apply to all commands, and cause no warning.
  static func report(_ command: String?, _ words: [String]) {
    guard let command else { return }
    let set = Set(DefaultOption.current.map(\.option))
    let written = options(in: words)
    for rule in rules where rule.applies(to: command, written) {
      for option in rule.options
      where !set.contains(option) && written.contains(where: { $0.name == option }) {
        warn("optionIgnored", "--\(option) has no effect here.", hint: rule.hint)
      }
    }
  }

  private static func options(in words: [String]) -> [WrittenOption] {
    let words = words.prefix { $0 != "--" }
    return zip(words, words.dropFirst() + [""]).compactMap { word, next in
      guard word.hasPrefix("-") else { return nil }
      guard word.hasPrefix("--") else {
        // Letters of flags may precede that of the option, and its value may follow.
        return word.lazy.compactMap { AudioOptions.longNames[$0] }.first
          .map { WrittenOption(name: $0, value: nil) }
      }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return WrittenOption(
        name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : next)
    }
  }
}
