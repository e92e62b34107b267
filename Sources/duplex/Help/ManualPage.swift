import ArgumentParser

/// The manual page of the tool, or of one of its commands. The descriptions of commands and options
/// are those in their declarations, as in the help; all further texts are in `ManualTexts`.
struct ManualPage {
  /// The name of the page without its section, such as `duplex-record`.
  let name: String
  /// The page as roff, in the macros of man(7).
  let text: String

  /// The date of the last revision of the pages.
  private static let date = "2026-11-27"

  /// Returns the page of the tool, followed by those of its commands.
  static func all(of commands: CommandSet) -> [ManualPage] {
    [page(of: commands)] + commands.types.map { page(of: $0, in: commands) }
  }

  private init(_ name: String, _ roff: Roff) {
    self.name = name
    text = roff.lines.joined(separator: "\n") + "\n"
  }

  // MARK: The tool

  private static func page(of commands: CommandSet) -> ManualPage {
    var roff = begin("duplex", commands, placeholders: ["TIME", "HZ", "COMMAND"])
    roff.section("NAME")
    roff.name("duplex", "record, monitor and play sound through ALSA at low latency")
    roff.section("SYNOPSIS")
    roff.synopsis("duplex", "\\fICOMMAND\\fR [\\fIOPTION\\fR]...")
    roff.synopsis("duplex --help", "| \\fB\\-\\-help\\-all\\fR | \\fB\\-\\-version\\fR")
    roff.section("DESCRIPTION")
    for paragraph in ManualTexts.introduction { roff.paragraph(paragraph) }
    roff.section("COMMANDS")
    for command in commands.types {
      roff.item(
        command.configuration.commandName ?? "",
        command.configuration.abstract + " See \(pageName(of: command))(1).")
    }
    roff.add(ManualTexts.examples["duplex"] ?? [])
    for chapter in ManualTexts.chapters { roff.add(chapter) }
    roff.add(
      ManualTexts.Chapter(
        "VALUES", "Values are written alike wherever an option takes one.",
        items: ManualTexts.values.compactMap { name in
          ExpectedValues.sentence(forValue: name).map { (name, $0) }
        }))
    roff.addStatuses(ManualTexts.statuses(of: "duplex"))
    roff.add(ManualTexts.environment)
    roff.add(ManualTexts.files)
    roff.section("SEE ALSO")
    roff.paragraph(
      (commands.types.map { pageName(of: $0) + "(1)" } + ManualTexts.relatedPages)
        .joined(separator: ", "))
    return ManualPage("duplex", roff)
  }

  // MARK: One command

  private static func page(
    of command: any ParsableCommand.Type, in commands: CommandSet
  ) -> ManualPage {
    let configuration = command.configuration
    let name = configuration.commandName ?? ""
    let arguments = commands.arguments(of: name).joiningInverses
    let positional = arguments.filter(\.isPositional)
    let pageName = pageName(of: command)
    var roff = begin(
      pageName, commands,
      placeholders: Set(
        positional.map { $0.valueName.uppercased() } + ["NAME", "TAKE-1", "TAKE-2"]))
    roff.section("NAME")
    roff.name(pageName, purpose(configuration.abstract))
    roff.section("SYNOPSIS")
    roff.synopsis(
      "duplex \(name)",
      (["[\\fIOPTION\\fR]..."] + positional.map(\.synopsis)).joined(separator: " "))
    roff.section("DESCRIPTION")
    roff.paragraph(configuration.abstract)
    // The keys have their own section.
    let keys = KeyBindings.help(of: name)
    let paragraphs = configuration.discussion.split(separator: "\n\n").map { paragraph in
      paragraph.split(separator: keys, omittingEmptySubsequences: true)
        .map { $0.drop { $0 == " " } }.joined(separator: " ")
    }
    for paragraph in paragraphs where !paragraph.isEmpty { roff.paragraph(paragraph) }
    for paragraph in ManualTexts.descriptions[name] ?? [] { roff.paragraph(paragraph) }
    roff.add(ManualTexts.examples[name] ?? [])
    roff.addOptions(arguments, of: name)
    if let bindings = KeyBindings.commands[name] {
      roff.section("KEYS")
      roff.paragraph(
        "These keys work while the command runs in a terminal. A key without a function in this run is ignored."
      )
      for binding in bindings { roff.item(binding.name, binding.meaning.asSentence) }
    }
    let used = Set(arguments.filter(\.takesValue).map(\.valueName))
    let values = ManualTexts.values.filter(used.contains).compactMap { name in
      ExpectedValues.sentence(forValue: name).map { (name, $0) }
    }
    if !values.isEmpty {
      roff.add(ManualTexts.Chapter("VALUES", "", items: values))
    }
    roff.addStatuses(ManualTexts.statuses(of: name))
    roff.section("ENVIRONMENT AND FILES")
    roff.paragraph("As duplex(1) describes them.")
    roff.section("SEE ALSO")
    let related = (ManualTexts.related[name] ?? []).map { "duplex-\($0)(1)" }
    roff.paragraph((["duplex(1)"] + related).joined(separator: ", "))
    return ManualPage(pageName, roff)
  }

  private static func begin(
    _ name: String, _ commands: CommandSet, placeholders: Set<String>
  ) -> Roff {
    Roff(name, date: date, source: "duplex \(commands.version)", placeholders: placeholders)
  }

  private static func pageName(of command: any ParsableCommand.Type) -> String {
    "duplex-" + (command.configuration.commandName ?? "")
  }

  /// Returns `Record the microphone to a file.` in the form of the line below NAME.
  private static func purpose(_ abstract: String) -> String {
    abstract.prefix(1).lowercased() + abstract.dropFirst().dropLast()
  }
}

extension Roff {
  /// Adds the examples with a heading if there are any.
  fileprivate mutating func add(_ examples: [ManualTexts.Example]) {
    guard !examples.isEmpty else { return }
    section("EXAMPLES")
    for item in examples { example(item.purpose + ":", item.commands) }
  }

  fileprivate mutating func add(_ chapter: ManualTexts.Chapter) {
    section(chapter.title)
    for paragraph in chapter.paragraphs { self.paragraph(paragraph) }
    for (term, text) in chapter.items { item(term, text) }
    for (purpose, commands) in chapter.examples { example(purpose, commands) }
  }

  /// Adds the positional arguments, then the options by task.
  fileprivate mutating func addOptions(_ arguments: [CommandArgument], of name: String) {
    section("OPTIONS")
    let positional = arguments.filter(\.isPositional)
    if !positional.isEmpty { subsection("Arguments") }
    for argument in positional {
      item(placeholder: argument.valueName.uppercased(), argument.text)
    }
    let options = arguments.filter { !$0.isPositional }
    for (title, arguments) in HelpSections.sections(of: options, name) {
      subsection(title)
      for argument in arguments {
        item(
          words: argument.words, value: argument.takesValue ? argument.valueName : nil,
          argument.text)
      }
    }
  }

  fileprivate mutating func addStatuses(_ statuses: [(ExitStatus, String)]) {
    section("EXIT STATUS")
    for (status, text) in statuses { item("\(status.rawValue)", text) }
  }
}

extension CommandArgument {
  /// A positional argument as it appears in the synopsis.
  fileprivate var synopsis: String {
    let name = "\\fI\(valueName.uppercased())\\fR" + (isRepeating ? "..." : "")
    return isOptional ? "[\(name)]" : name
  }
}

extension String {
  /// The text with a capital at the start and a full stop at the end.
  fileprivate var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
