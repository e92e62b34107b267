/// Options that a command takes because it shares them with others, and that have no effect on what it was
/// asked to do.
enum IgnoredOptions {
  private struct Rule {
    let commands: Set<String>
    let options: [String]
    /// Options one of which gives the others an effect; empty where nothing does.
    let needed: [String]
    let hint: String
  }

  private static let rules = [
    Rule(
      commands: ["record"],
      options: ["headroom", "playback-device", "playback-channels"],
      needed: ["monitor", "mix"], hint: "Nothing is played without --monitor or --mix."),
    Rule(
      commands: ["record", "overdub"],
      options: ["limit", "limit-lookahead", "limit-true-peak", "dim", "feedback-guard"],
      needed: ["monitor"], hint: "The microphone is not played without --monitor."),
    Rule(
      commands: ["record", "monitor"], options: ["hold", "tail"],
      needed: ["voice-activated", "split"],
      hint: "Use the option together with --voice-activated or --split silence."),
    Rule(
      commands: ["overdub"], options: ["tempo"], needed: ["count-in"],
      hint: "The tempo is used by --count-in only."),
    Rule(
      commands: ["monitor"], options: ["overwrite"], needed: ["record"],
      hint: "Nothing is written without --record."),
    Rule(
      commands: ["tune"], options: ["duration"], needed: [],
      hint: "The length of each trial is set with --seconds."),
    Rule(
      commands: ["tune"], options: ["headroom", "period-size"], needed: [],
      hint: "tune chooses the settings that it tries."),
  ]

  private static let shortNames = ["-P": "playback-device", "-d": "duration", "-p": "period-size"]

  /// Warns of each option in `words` that has no effect on `command`. Options that a file of settings sets
  /// are for all commands, and not warned of.
  static func report(_ command: String?, _ words: [String]) {
    guard let command else { return }
    let set = Set(DefaultOption.current.map(\.option))
    let written = words.prefix { $0 != "--" }.compactMap(longName)
    for rule in rules
    where rule.commands.contains(command) && !rule.needed.contains(where: written.contains) {
      for option in rule.options where written.contains(option) && !set.contains(option) {
        warn("optionIgnored", "--\(option) has no effect here.", hint: rule.hint)
      }
    }
    guard value(of: "limit", in: words) == "off" else { return }
    for option in ["limit-lookahead", "limit-true-peak"]
    where written.contains(option) && !set.contains(option) {
      warn(
        "optionIgnored", "--\(option) has no effect here.",
        hint: "Nothing is limited with --limit off.")
    }
  }

  /// The last value that `words` give the option.
  private static func value(of option: String, in words: [String]) -> String? {
    var value: String?
    for (word, next) in zip(words, words.dropFirst() + [""]) {
      if word == "--" { break }
      if word == "--\(option)" { value = next }
      if word.hasPrefix("--\(option)=") { value = String(word.dropFirst(option.count + 3)) }
    }
    return value
  }

  private static func longName(_ word: String) -> String? {
    guard word.hasPrefix("--") else { return shortNames[String(word.prefix(2))] }
    return String(word.dropFirst(2).prefix { $0 != "=" })
  }
}
