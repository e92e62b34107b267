import ArgumentParser
import AudioFiles

/// The words of the command line, as the parser knows them: shortened commands and options stand in
/// full, and options that may do without their value have one.
struct CommandWords {
  /// The command, in full; nil where none is named.
  let command: String?
  /// All that there are.
  let commands: CommandSet
  /// All words as they were written, but with the command in full and without `--no-config`.
  private let written: [String]
  /// Whether the file of defaults is to be read.
  let readsConfiguration: Bool

  /// Throws where no command, or more than one, begins like the first word.
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

  /// Throws where options stand before the command.
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

  /// Throws where behind `help` stands more than the name of a command, `-h` and what `--help-all`
  /// begins with.
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

  /// The words for the parser.
  var words: [String] { Self.completed(written, command) }

  /// The words for the parser with shortened options in full; throws where an option could be
  /// several, or is none: the parser would rather speak of what is missing beside it.
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
    return Self.completed(result, command)
  }

  /// The same where no command is named: what stands first may be an option of `duplex` itself.
  private func completingFirstOption() throws(ToolFailure) -> [String] {
    guard let first = words.first, first.hasPrefix("--"), first != "--" else { return words }
    let names = ["help", "help-all", "version", "generate-completion-script"]
    return [try Self.completedOption(first, of: names, nil)] + words.dropFirst()
  }

  /// Throws where one of the words gives a value to an option that shows the help or the version
  /// and has none: the parser would show it all the same.
  func refuseValuesOfHelp() throws(ToolFailure) {
    for (index, word) in written.prefix(while: { $0 != "--" }).enumerated() {
      let name = word.hasPrefix("-h") ? "-h" : String(word.prefix { $0 != "=" })
      guard name.count < word.count, ["-h", "--help", "--help-all", "--version"].contains(name)
      else { continue }
      if let command, index > 0,
        commands.arguments(of: command).named(written[index - 1])?.takesAnyWord == true
      {
        continue
      }
      throw ToolFailure.usage("\(name) does not take any value.", hint: "Write \(name) alone.")
    }
  }

  /// The command that `word` is or begins.
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

  /// `word`, such as `--dura=3`, with the name of the option of `command`, or of `duplex` itself,
  /// in full.
  private static func completedOption(
    _ word: String, of names: [String], _ command: String?
  ) throws(ToolFailure) -> String {
    let name = String(word.dropFirst(2).prefix { $0 != "=" })
    if let full = try fullName(name, of: names, dashes: "--") {
      return "--" + full + word.dropFirst(2 + name.count)
    }
    guard let nearest = EditDistance.nearest(to: name, of: names) else {
      throw unknown("--" + name, in: word, command)
    }
    throw ToolFailure.usage("There is no option --\(name).", hint: "Did you mean --\(nearest)?")
  }

  /// No option is called `option`, which is `word`, or begins it.
  private static func unknown(
    _ option: String, in word: String, _ command: String?
  ) -> ToolFailure {
    .usage(
      "Unknown option '\(option)'.",
      hint: SoundFileReader.exists(word)
        ? "If the file of that name is meant, write ./\(word)."
        : "See duplex \(command.map { $0 + " " } ?? "")--help.")
  }

  /// Whether `word` begins like a number below zero.
  private static func isNumber(_ word: String) -> Bool {
    guard word.hasPrefix("-"), let digit = word.dropFirst().first else { return false }
    return digit.isNumber || digit == "."
  }

  /// The one of `names` that `word` is or begins; nil where there is none. Throws where it begins
  /// several.
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

  /// `-qd10` as `-q` and `-d=10`: letters of flags may stand together, the last one may take a
  /// value, and that may stand right behind it. Throws where `word` is the name of an option that
  /// lacks a dash, or a letter of it is no option.
  private static func separatingValue(
    of word: String, _ options: [CommandArgument], _ command: String
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

  /// `words` with `silence` where nothing is said about where to split: the parser knows no options
  /// that may do without their value.
  private static func completed(_ words: [String], _ command: String?) -> [String] {
    let words = joiningNumbers(words)
    guard command == "record" || command == "monitor" else { return words }
    return words.enumerated().flatMap { index, word in
      guard word == "--split" else { return [word] }
      let next = index + 1 < words.count ? words[index + 1] : ""
      // A word that could have been meant as a size is left to the parser to refuse.
      let isName = next.isEmpty || next.hasPrefix("-") || FileFormat(pathExtensionOf: next) != nil
      return isName ? [word, "silence"] : [word]
    }
  }

  /// `written` with a number below zero tied to the option before it: the parser takes `-6` for
  /// options called so.
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

/// The commands of the tool.
struct CommandSet {
  let types: [any ParsableCommand.Type]
  /// The purpose of the tool, for the help.
  let abstract: String
  let version: String

  /// Those that `tool` declares.
  init(_ tool: CommandConfiguration) {
    (types, abstract, version) = (tool.subcommands, tool.abstract, tool.version)
  }

  var names: [String] { types.compactMap { $0.configuration.commandName } }

  /// The command `name`; nil where there is none.
  subscript(name: String?) -> (any ParsableCommand.Type)? {
    types.first { $0.configuration.commandName == name }
  }

  /// All arguments of the command `name`; none where there is no such command.
  func arguments(of name: String?) -> [CommandArgument] {
    let described = self[name].flatMap { JSON(parsing: $0._dumpHelp()) }?["command"]?["arguments"]
    return (described?.elements ?? []).map(CommandArgument.init)
  }
}

/// An argument of a command, as the parser describes it.
struct CommandArgument {
  /// Without dashes; empty where it has its meaning by its place.
  let longNames: [String]
  /// Letters.
  let shortNames: [String]
  /// What the help says of it: a line, and more.
  let abstract: String
  let discussion: String?
  let defaultValue: String?
  /// What stands between angle brackets in the help.
  let valueName: String
  let takesValue: Bool
  /// Whether its value may be a word that begins with a dash.
  let takesAnyWord: Bool
  let isPositional: Bool
  let isRepeating: Bool
  let isOptional: Bool
  /// Whether it is a flag that `--no-` before its name takes back.
  fileprivate(set) var hasInverse = false

  fileprivate init(_ json: JSON) {
    func names(of kind: String) -> [String] {
      (json["names"]?.elements ?? []).filter { $0["kind"]?.textValue == kind }
        .compactMap { $0["name"]?.textValue }
    }
    longNames = names(of: "long")
    shortNames = names(of: "short")
    abstract = json["abstract"]?.textValue ?? ""
    discussion = json["discussion"]?.textValue
    defaultValue = json["defaultValue"]?.textValue
    valueName = json["valueName"]?.textValue ?? ""
    takesValue = json["kind"]?.textValue == "option"
    takesAnyWord = json["parsingStrategy"]?.textValue == "unconditional"
    isPositional = json["kind"]?.textValue == "positional"
    isRepeating = json["isRepeating"]?.boolean == true
    isOptional = json["isOptional"]?.boolean == true
  }
}

extension [CommandArgument] {
  /// The option of this long name; nil where there is none.
  subscript(longName: String) -> CommandArgument? {
    first { $0.longNames.contains(longName) }
  }

  /// The option of this letter; nil where there is none.
  subscript(letter: Character) -> CommandArgument? {
    first { $0.shortNames.contains(String(letter)) }
  }

  /// The option that `word` names with its dashes; nil where it is none, or has its value with it.
  func named(_ word: String) -> CommandArgument? {
    if word.hasPrefix("--") { return self[String(word.dropFirst(2))] }
    guard word.count == 2, word.hasPrefix("-"), let letter = word.last else { return nil }
    return self[letter]
  }

  var longNames: [String] { flatMap(\.longNames) }

  /// The same with each flag and its inverse as one: the text of both stands at the first of them.
  var joiningInverses: [CommandArgument] {
    compactMap { argument in
      guard let name = argument.longNames.first else { return argument }
      if name.hasPrefix("no-"), self[String(name.dropFirst(3))] != nil { return nil }
      var argument = argument
      argument.hasInverse = self["no-" + name] != nil
      return argument
    }
  }
}

/// The edit distance between two words: the number of letters in which they differ.
enum EditDistance {
  /// The nearest of `names`, in letters of either case; nil where none is near enough to have been
  /// meant.
  static func nearest(to word: String, of names: [String]) -> String? {
    // A word of this length is no mistyped name, and comparing it would take long.
    guard word.count <= 64 else { return nil }
    let written = Array(word.lowercased())
    let near = names.map { ($0, between(written, Array($0.lowercased()))) }
      .filter { $1 <= max(1, max(word.count, $0.count) / 2) }
    return near.min { $0.1 < $1.1 }?.0
  }

  /// Letters put in, left out, changed or swapped with their neighbour (optimal string alignment).
  static func between(_ first: [Character], _ second: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...second.count)
    for (row, letter) in first.enumerated() {
      var current = [row + 1]
      for (column, other) in second.enumerated() {
        var least = min(
          last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
          least = min(least, before[column - 1] + 1)
        }
        current.append(least)
      }
      (before, last) = (last, current)
    }
    return last[second.count]
  }
}
