import ArgumentParser
import AudioFiles

/// The words of the command line, prepared for the parser: shortened commands and options are
/// completed, and options whose value is optional get their default value.
struct CommandWords {
  /// The full name of the command; nil if no command is named, and for `help`.
  let command: String?
  /// All commands of the tool.
  let commands: CommandSet
  /// The words as the user wrote them, with the full name of the command and without `--no-config`.
  private let written: [String]
  /// Whether the file of defaults is read.
  let readsConfiguration: Bool

  /// Throws if no command, or more than one, begins with the first word, if options are written
  /// before the command, or if `help` is followed by words that it does not accept.
  init(_ words: [String], of commands: CommandSet) throws(ToolFailure) {
    self.commands = commands
    let end = words.firstIndex(of: "--") ?? words.count
    let refusals = words[..<end].indices.filter { Self.refusesConfiguration(words[$0]) }
    readsConfiguration = refusals.isEmpty
    var words = words.indices.filter { !refusals.contains($0) }.map { words[$0] }
    guard let first = words.first, !first.hasPrefix("-"), !first.isEmpty else {
      (command, written) = (nil, words)
      try refuseCommandBehindOptions()
      return
    }
    words[0] = try Self.commandName(first, of: commands)
    if words[0] == "help" {
      command = nil
      if let index = words.dropFirst().firstIndex(where: { !$0.hasPrefix("-") }) {
        let name = try Self.commandName(words.remove(at: index), of: commands)
        words.insert(name, at: 1)
      }
      try Self.refuseWordsForHelp(words)
    } else {
      command = words[0]
    }
    written = words
  }

  /// Throws if options are written before the command.
  private func refuseCommandBehindOptions() throws(ToolFailure) {
    if written.first == "--" {
      throw ToolFailure.usage("No command is named.", hint: "See duplex --help for all of them.")
    }
    guard let first = written.first, first.hasPrefix("-"), first != "-h",
      !["--h", "--v", "--g"].contains(first.prefix(3)),
      let name = written.first(where: commands.names.contains)
    else { return }
    throw ToolFailure.usage(
      "The command comes before its options.", hint: "Write duplex \(name) \(first) and so on.")
  }

  /// Throws if `help` is followed by anything except the name of one command, `-h`, `--help-all` or
  /// an abbreviation of `--help-all`.
  private static func refuseWordsForHelp(_ words: [String]) throws(ToolFailure) {
    for (index, word) in words.enumerated().dropFirst() {
      if word == "-h" || word.count > 2 && "--help-all".hasPrefix(word) { continue }
      if word.hasPrefix("-") {
        throw ToolFailure.usage("Unknown option '\(word)'.", hint: "See duplex --help.")
      }
      guard index > 1 else { continue }
      throw ToolFailure.usage(
        "help shows one command at a time.", hint: "Write duplex help \(words[1]).")
    }
  }

  /// The words to be parsed, with shortened options unchanged.
  var words: [String] { separatingEmptyValues(Self.completed(written, command)) }

  /// Returns the words to be parsed, with shortened options completed. Throws if an option is
  /// ambiguous or unknown; the parser would report a missing argument instead.
  func completingOptions() throws(ToolFailure) -> [String] {
    guard let command else { return try completingFirstOption() }
    let options = commands.arguments(of: command)
    let names = options.longNames + ["help-all"]
    var result: [String] = []
    for (index, word) in written.enumerated() {
      guard word.hasPrefix("-"), word.count > 1, word != "--", !Self.isNumber(word),
        !written[..<index].contains("--"), result.last.flatMap(options.named)?.takesAnyWord != true
      else {
        result.append(word)
        continue
      }
      guard word.hasPrefix("--") else {
        result += try Self.separatingValue(of: word, options, command)
        continue
      }
      result.append(try Self.completedOption(word, of: names, command))
    }
    return separatingEmptyValues(Self.completed(result, command))
  }

  /// Returns the same if no command is named: the first word may be an option of `duplex` itself.
  private func completingFirstOption() throws(ToolFailure) -> [String] {
    guard let first = words.first, first.hasPrefix("--"), first != "--" else { return words }
    let names = ["help", "help-all", "version", "generate-completion-script"]
    return [try Self.completedOption(first, of: names, nil)] + words.dropFirst()
  }

  /// Throws if a word gives a value to an option that shows the help or the version, or if it holds
  /// `-h` among unknown letters. These options have no value, and the parser would ignore the value
  /// and the letters.
  func refuseValuesOfHelp() throws(ToolFailure) {
    for (index, word) in written.prefix(while: { $0 != "--" }).enumerated() {
      let name = word.hasPrefix("-h") ? "-h" : String(word.prefix { $0 != "=" })
      let isNamed = ["-h", "--help", "--help-all", "--version"].contains(name)
      guard name.count < word.count && isNamed || Self.mayHoldHelp(word) else { continue }
      let options = commands.arguments(of: command)
      if index > 0, options.named(written[index - 1])?.takesAnyWord == true { continue }
      if isNamed { throw Self.valueOfFlag(name) }
      _ = try Self.separatingValue(of: word, options, command)
      if Self.flags(in: word, options).last == "h" { throw Self.valueOfFlag("-h") }
    }
  }

  /// Whether a word holds the letters of several flags and asks for the help with one of them, as
  /// `-qh` does.
  var asksForHelpAmongFlags: Bool {
    written.prefix { $0 != "--" }.filter(Self.mayHoldHelp).contains { word in
      let options = commands.arguments(of: command)
      let flags = Self.flags(in: word, options)
      guard flags.contains("h"), flags.allSatisfy({ $0 == "h" || options[$0] != nil }) else {
        return false
      }
      // In `-qhd10` the option -d has a value; in `-qh=1` the flag -h would have one.
      return word.dropFirst(1 + flags.count).first != "="
    }
  }

  /// Returns whether `word` has the form of several flags in one word, the first of which is not
  /// `-h`, and contains an `h`.
  private static func mayHoldHelp(_ word: String) -> Bool {
    word.count > 2 && word.hasPrefix("-") && !["--", "-h"].contains(word.prefix(2))
      && !isNumber(word) && word.contains("h")
  }

  /// Returns the letters in `word` before the first option that takes a value.
  private static func flags(in word: String, _ options: [CommandArgument]) -> Substring {
    word.dropFirst().prefix { $0 != "=" && options[$0]?.takesValue != true }
  }

  /// Returns the failure of a value that is given to an option without one.
  static func valueOfFlag(_ name: String) -> ToolFailure {
    ToolFailure.usage("\(name) does not take any value.", hint: "Write \(name) alone.")
  }

  /// Returns the command of which `word` is the name or an abbreviation. Throws if there is none,
  /// or more than one.
  private static func commandName(
    _ word: String, of commands: CommandSet
  ) throws(ToolFailure) -> String {
    let names = commands.names + ["help"]
    if let name = try fullName(word, of: names) { return name }
    let nearest = EditDistance.nearest(to: word, of: names)
    throw ToolFailure.usage(
      "There is no command \(word).",
      hint: (nearest.map { "Did you mean \($0)? " } ?? "") + "See duplex --help for all of them.")
  }

  /// Returns `word`, such as `--dura=3`, with the full name of the option, which belongs to
  /// `command` or to `duplex` itself. Throws if the name is ambiguous or unknown.
  private static func completedOption(
    _ word: String, of names: [String], _ command: String?
  ) throws(ToolFailure) -> String {
    let name = String(word.dropFirst(2).prefix { $0 != "=" })
    if let full = try fullName(name, of: names, dashes: "--") {
      return "--" + full + word.dropFirst(2 + name.count)
    }
    guard let nearest = nearestOption(to: name, of: names) else {
      throw unknown("--" + name, in: word, command)
    }
    throw ToolFailure.usage("There is no option --\(name).", hint: "Did you mean --\(nearest)?")
  }

  /// Returns the one of `names` that a user who wrote `name` probably meant; nil if there is none.
  static func nearestOption(to name: String, of names: [String]) -> String? {
    let synonym = synonyms[name].flatMap { names.contains($0) ? $0 : nil }
    return synonym ?? EditDistance.nearest(to: name, of: names)
  }

  /// Names that other programs give to options of this one.
  private static let synonyms = [
    "seconds": "duration", "time": "duration", "length": "duration", "sample-rate": "rate",
    "samplerate": "rate", "volume": "gain", "force": "overwrite",
  ]

  /// Returns the failure for `option`, an unknown option that was written in `word`.
  private static func unknown(
    _ option: String, in word: String, _ command: String?
  ) -> ToolFailure {
    .usage(
      "Unknown option '\(option)'.",
      hint: SoundFileReader.exists(word)
        ? "If the file of that name is meant, write ./\(word)."
        : "See duplex \(command.map { $0 + " " } ?? "")--help.")
  }

  /// Returns whether `word` begins like a negative number.
  private static func isNumber(_ word: String) -> Bool {
    guard word.hasPrefix("-"), let digit = word.dropFirst().first else { return false }
    return digit.isNumber || digit == "."
  }

  /// Returns the one of `names` that is equal to `word` or begins with it; nil if there is none.
  /// Throws if several begin with it.
  private static func fullName(
    _ word: String, of names: [String], dashes: String = ""
  ) throws(ToolFailure) -> String? {
    if names.contains(word) { return word }
    let fitting = names.filter { $0.hasPrefix(word) }.map { dashes + $0 }
    guard fitting.count > 1, let last = fitting.last else {
      return fitting.first.map { String($0.dropFirst(dashes.count)) }
    }
    let all = fitting.dropLast().joined(separator: ", ") + " or " + last
    throw ToolFailure.usage(
      "\(dashes)\(word) could be \(all).", hint: "Write more of its letters.")
  }

  /// Returns `-qd10` as `-q` and `-d=10`: one word may hold the letters of several flags, and the
  /// last letter may be an option whose value follows without a blank. Throws if `word` is the name
  /// of a long option with one dash only, or if a letter is not an option.
  private static func separatingValue(
    of word: String, _ options: [CommandArgument], _ command: String?
  ) throws(ToolFailure) -> [String] {
    let name = String(word.dropFirst().prefix { $0 != "=" })
    guard name.count == 1 || options[name] == nil else {
      throw ToolFailure.usage("There is no option -\(name).", hint: "Did you mean --\(name)?")
    }
    let flags = String(name.prefix { options[$0]?.takesValue != true })
    if let other = flags.first(where: { $0 != "h" && options[$0] == nil }) {
      throw unknown("-\(other)", in: word, command)
    }
    let rest = word.dropFirst(1 + flags.count)
    guard let letter = name.dropFirst(flags.count).first else { return [word] }
    let value = rest.dropFirst()
    let option = value.isEmpty || value.first == "=" ? "-\(rest)" : "-\(letter)=\(value)"
    return flags.isEmpty ? [option] : ["-" + flags, option]
  }

  private static func refusesConfiguration(_ word: String) -> Bool {
    word.hasPrefix("--no-c") && "--no-config".hasPrefix(word)
  }

  /// Returns `words` with the value `silence` added to each `--split` without a value: the parser
  /// does not support options with an optional value.
  private static func completed(_ words: [String], _ command: String?) -> [String] {
    let words = joiningNumbers(words)
    guard command == "record" || command == "monitor" else { return words }
    return words.enumerated().flatMap { index, word in
      guard word == "--split" else { return [word] }
      guard index + 1 < words.count else { return [word, "silence"] }
      let next = words[index + 1]
      // A word that may be a misspelled size is left to the parser, which rejects it.
      let isName = next.hasPrefix("-") || FileFormat(pathExtensionOf: next) != nil
      return isName ? [word, "silence"] : [word]
    }
  }

  /// Returns `written` with each negative number joined to the option before it by `=`: the parser
  /// would read `-6` as the name of an option.
  private static func joiningNumbers(_ written: [String]) -> [String] {
    var words: [String] = []
    for (index, word) in written.enumerated() {
      guard isNumber(word), index > 0, let option = words.last, option.hasPrefix("-"),
        option != "-", option != "--",
        !option.contains("="), !words.contains("--")
      else {
        words.append(word)
        continue
      }
      words[words.count - 1] = "\(option)=\(word)"
    }
    return words
  }
}
