import ArgumentParser
import RealtimeAudio

/// The commands of the tool.
struct CommandSet {
  let types: [any ParsableCommand.Type]
  /// The purpose of the tool, for the help.
  let abstract: String
  let version: String
  /// The arguments of the commands that were described so far: a description takes milliseconds.
  private let described = MutexBox([String: [CommandArgument]]())

  /// Creates the set of the commands that `tool` declares.
  init(_ tool: CommandConfiguration) {
    (types, abstract, version) = (tool.subcommands, tool.abstract, tool.version)
  }

  var names: [String] { types.compactMap { $0.configuration.commandName } }

  /// The command `name`; nil if there is none.
  subscript(name: String?) -> (any ParsableCommand.Type)? {
    types.first { $0.configuration.commandName == name }
  }

  /// Returns all arguments of the command `name`; an empty array if there is no such command.
  func arguments(of name: String?) -> [CommandArgument] {
    guard let name, let type = self[name] else { return [] }
    if let known = described.withLock({ $0[name] }) { return known }
    let help = JSON(parsing: type._dumpHelp())?["command"]?["arguments"]
    let arguments = (help?.elements ?? []).map(CommandArgument.init)
    described.withLock { $0[name] = arguments }
    return arguments
  }
}

/// An argument of a command, from the description that the parser prints.
struct CommandArgument {
  /// The long names, without dashes; empty for a positional argument.
  let longNames: [String]
  /// The names of one letter, without the dash.
  let shortNames: [String]
  /// The description in the help: a line, and an optional further text.
  let abstract: String
  let discussion: String?
  let defaultValue: String?
  /// The name of the value, which the help shows between angle brackets.
  let valueName: String
  let takesValue: Bool
  /// Whether its value may be a word that begins with a dash.
  let takesAnyWord: Bool
  let isPositional: Bool
  let isRepeating: Bool
  let isOptional: Bool
  /// Whether it is a flag that has an inverse, `--no-` and its name.
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
  /// The option with this long name; nil if there is none.
  subscript(longName: String) -> CommandArgument? {
    first { $0.longNames.contains(longName) }
  }

  /// The option with this letter; nil if there is none.
  subscript(letter: Character) -> CommandArgument? {
    first { $0.shortNames.contains(String(letter)) }
  }

  /// Returns the option that `word` names with its dashes; nil if it names none, or if it includes
  /// a value.
  func named(_ word: String) -> CommandArgument? {
    if word.hasPrefix("--") { return self[String(word.dropFirst(2))] }
    guard word.count == 2, word.hasPrefix("-"), let letter = word.last else { return nil }
    return self[letter]
  }

  var longNames: [String] { flatMap(\.longNames) }

  /// The same arguments with each flag and its inverse merged into one, at the place of the flag.
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
