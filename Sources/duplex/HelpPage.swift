import ArgumentParser

/// The help of the tool or of one command: the common options on one screen of 80 columns and 24 rows,
/// or all of them, by task. Its texts are those of the options' and the commands' declarations.
struct HelpPage {
  /// The lines, with their ends but for the last one's.
  let text: String

  /// The page that `words` ask for with `-h`, `--help`, `--help-all`, `help`, or by being none; nil
  /// where they ask for something else.
  init?(for words: CommandWords, width: Int) {
    let written = words.words
    let options = written.prefix { $0 != "--" }
    let showsAll = options.contains(where: Self.asksForAll)
    guard
      written.isEmpty || written[0] == "help" || showsAll
        || options.contains(where: { $0 == "-h" || $0 == "--help" })
    else { return nil }
    let named = written.first == "help" ? written.dropFirst().first : words.command
    let command = Duplex.configuration.subcommands.first { $0.configuration.commandName == named }
    let lines =
      if let command {
        Self.lines(of: command, showsAll: showsAll, width: width)
      } else {
        Self.lines(showsAll: showsAll, width: width)
      }
    text = lines.joined(separator: "\n")
  }

  /// Whether `word` is `--help-all`, or a part of it that is longer than `--help-`.
  private static func asksForAll(_ word: String) -> Bool {
    word.hasPrefix("--help-a") && "--help-all".hasPrefix(word)
  }

  /// Rows of a page that a terminal of 24 shows above the prompt.
  private static let mostRows = 23

  // MARK: One command

  private static func lines(
    of command: any ParsableCommand.Type, showsAll: Bool, width: Int
  ) -> [String] {
    let configuration = command.configuration
    let name = configuration.commandName ?? ""
    let arguments = HelpArgument.all(of: command)
    var head = [
      "Usage: duplex \(name) [OPTION]..."
        + arguments.filter(\.isPositional).map { " " + $0.label }.joined()
    ]
    head += TextLines(configuration.abstract, width: width)
    let paragraphs = configuration.discussion.split(separator: "\n\n").map(String.init)
    for paragraph in showsAll ? paragraphs[...] : paragraphs.prefix(1) {
      head += TextLines(paragraph, width: width)
    }
    let common = showsAll ? nil : HelpSections.common[name]
    let isFull = common == nil
    var sections: [(title: String, arguments: [HelpArgument])] = []
    let positional = arguments.filter(\.isPositional)
    if isFull, !positional.isEmpty { sections.append(("Arguments", positional)) }
    var rest = arguments.filter { !$0.isPositional && common?.contains($0.name) != false }
    for section in HelpSections.all
    where section.commands.isEmpty || section.commands.contains(name) {
      let found = section.names.compactMap { name in rest.first { $0.name == name } }
      rest.removeAll { section.names.contains($0.name) }
      if !found.isEmpty { sections.append((section.title, found)) }
    }
    if !rest.isEmpty { sections.append(("Other options", rest)) }
    let shown = sections.flatMap(\.arguments)
    let column = min(32, (shown.map(\.label.count).max() ?? 0) + 4)
    let blocks = sections.map { section in
      ["\(section.title):"]
        + section.arguments.flatMap { argument in
          row(
            argument.label, isFull ? argument.text : argument.firstSentence, column: column,
            width: width)
        }
    }
    guard !isFull else { return head + blocks.flatMap { [""] + $0 } }
    let count = arguments.count - positional.count
    let foot = ["All \(count) options, by task: duplex \(name) --help-all"]
    let spaced = head + blocks.flatMap { [""] + $0 } + [""] + foot
    return spaced.count <= mostRows ? spaced : head + blocks.flatMap(\.self) + foot
  }

  /// A label and its text beside it, below it where the label is too long.
  private static func row(
    _ label: String, _ text: String, column: Int, width: Int
  ) -> [String] {
    let indent = String(repeating: " ", count: column)
    let head = "  " + label
    guard head.count + 2 <= column else {
      return [head] + TextLines(text, width: width, first: indent, next: indent)
    }
    let first = head + String(repeating: " ", count: column - head.count)
    return Array(TextLines(text, width: width, first: first, next: indent))
  }

  // MARK: The tool

  private static func lines(showsAll: Bool, width: Int) -> [String] {
    let commands = Duplex.configuration.subcommands
    var lines = ["Usage: duplex COMMAND [OPTION]...", Duplex.configuration.abstract, ""]
    for command in commands {
      lines += row(
        command.configuration.commandName ?? "", command.configuration.abstract, column: 12,
        width: width)
    }
    lines.append("")
    for (words, meaning) in firstSteps { lines += row(words, meaning, column: 37, width: width) }
    lines.append("")
    guard showsAll else {
      lines.append(
        "duplex COMMAND --help shows a command's common options, --help-all all of them.")
      return lines
    }
    for (words, meaning) in generalOptions {
      lines += row(words, meaning, column: 39, width: width)
    }
    for command in commands {
      lines += [""] + Self.lines(of: command, showsAll: true, width: width)
    }
    return lines
  }

  private static let firstSteps = [
    ("duplex devices", "the sound cards, and what to type after -D"),
    ("duplex record", "record a note until Ctrl-C or q"),
    ("duplex play", "hear the last note"),
    ("duplex record -D sim -d 3 try.wav", "try it without a sound card"),
  ]

  private static let generalOptions = [
    ("duplex --version", "Show the version."),
    (
      "duplex --generate-completion-script",
      "Print a script that completes commands and options in bash; also: zsh, fish."
    ),
  ]
}

/// An argument of a command as the help shows it.
private struct HelpArgument {
  /// The long name without dashes; of a positional argument its name.
  let name: String
  /// The names and the value, `-d, --duration <time>`.
  let label: String
  /// All that is said of it.
  let text: String
  let isPositional: Bool
  private let abstract: String

  /// All arguments of `command`, a flag and its inverse as one.
  static func all(of command: any ParsableCommand.Type) -> [HelpArgument] {
    let described = JSON(parsing: command._dumpHelp())?["command"]?["arguments"]?.elements ?? []
    let names = Set(described.flatMap { self.names(of: "long", in: $0) })
    return described.compactMap { argument in
      let name = self.names(of: "long", in: argument).first
      // The text of both stands at the first of them.
      if let name, name.hasPrefix("no-"), names.contains(String(name.dropFirst(3))) { return nil }
      let hasInverse = name.map { names.contains("no-" + $0) } ?? false
      return HelpArgument(argument, name: name, hasInverse: hasInverse)
    }
  }

  private init(_ argument: JSON, name: String?, hasInverse: Bool) {
    isPositional = argument["kind"]?.textValue == "positional"
    let value = argument["valueName"]?.textValue ?? ""
    self.name = name ?? value
    abstract = argument["abstract"]?.textValue ?? ""
    let initial = argument["defaultValue"]?.textValue.map { " (default: \($0))" } ?? ""
    let discussion = argument["discussion"]?.textValue.map { " " + $0 } ?? ""
    text = abstract + initial + discussion
    guard !isPositional else {
      let shown = value.uppercased() + (argument["isRepeating"]?.boolean == true ? "..." : "")
      label = argument["isOptional"]?.boolean == true ? "[\(shown)]" : shown
      return
    }
    var words = Self.names(of: "short", in: argument).map { "-" + $0 }
    words += Self.names(of: "long", in: argument).map { "--" + $0 }
    if hasInverse { words += ["--no-" + self.name] }
    label =
      words.joined(separator: ", ")
      + (argument["kind"]?.textValue == "option" ? " <\(value)>" : "")
  }

  /// The first sentence of the text.
  var firstSentence: String {
    guard let end = abstract.firstRange(of: ". ") else { return abstract }
    return String(abstract[..<end.lowerBound]) + "."
  }

  private static func names(of kind: String, in argument: JSON) -> [String] {
    (argument["names"]?.elements ?? []).filter { $0["kind"]?.textValue == kind }
      .compactMap { $0["name"]?.textValue }
  }
}
