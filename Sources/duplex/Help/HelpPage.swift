import ArgumentParser

/// The help of the tool or of one command: the common options on one screen of 80 columns and 24
/// rows, or all options by task. The texts are those in the declarations of the options and the
/// commands.
struct HelpPage {
  /// The lines, joined by line feeds; the last line has none.
  let text: String

  /// Creates the page that `words` request with `-h`, `--help`, `--help-all`, `help`, or by being
  /// empty; nil if they request anything else.
  init?(for words: CommandWords, width: Int) {
    let written = words.words
    let options = written.prefix { $0 != "--" }
    let showsAll = options.contains(where: Self.asksForAll)
    guard
      written.isEmpty || written[0] == "help" || showsAll
        || options.contains(where: { $0 == "-h" || $0 == "--help" }) || words.asksForHelpAmongFlags
    else { return nil }
    let named = written.first == "help" ? written.dropFirst().first : words.command
    let commands = words.commands
    let lines =
      if let command = commands[named] {
        Self.lines(of: command, in: commands, showsAll: showsAll, width: width)
      } else {
        Self.lines(of: commands, showsAll: showsAll, width: width)
      }
    text = lines.joined(separator: "\n")
  }

  /// Returns whether `word` is `--help-all`, or an abbreviation of it longer than `--help-`.
  private static func asksForAll(_ word: String) -> Bool {
    word.hasPrefix("--help-a") && "--help-all".hasPrefix(word)
  }

  /// The number of rows that a terminal of 24 rows shows above the prompt.
  private static let maximumRows = 23

  // MARK: One command

  private static func lines(
    of command: any ParsableCommand.Type, in commands: CommandSet, showsAll: Bool, width: Int
  ) -> [String] {
    let configuration = command.configuration
    let name = configuration.commandName ?? ""
    let arguments = commands.arguments(of: name).joiningInverses
    var head = Array(
      TextLines(
        "Usage: duplex \(name) [OPTION]..."
          + arguments.filter(\.isPositional).map { " " + $0.label }.joined(),
        width: width, next: "  "))
    head += TextLines(configuration.abstract, width: width)
    let paragraphs = configuration.discussion.split(separator: "\n\n").map(String.init)
    for paragraph in showsAll ? paragraphs[...] : paragraphs.prefix(1) {
      head += TextLines(paragraph, width: width)
    }
    let common = showsAll ? nil : HelpSections.common[name]
    let isFull = common == nil
    let positional = arguments.filter(\.isPositional)
    let sections =
      (isFull && !positional.isEmpty ? [(title: "Arguments", arguments: positional)] : [])
      + HelpSections.sections(
        of: arguments.filter { !$0.isPositional && common?.contains($0.name) != false }, name)
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
    let foot = TextLines(
      "All \(count) options, by task: duplex \(name) --help-all", width: width, next: "  ")
    let spaced = head + blocks.flatMap { [""] + $0 } + [""] + foot
    return spaced.count <= maximumRows ? spaced : head + blocks.flatMap(\.self) + foot
  }

  /// The columns that a text beside a label needs: in a narrower terminal it stands below.
  private static let minimumTextColumns = 24

  /// Returns a label with its text beside it, or below it if the label is too long or the terminal
  /// too narrow.
  private static func row(
    _ label: String, _ text: String, column: Int, width: Int
  ) -> [String] {
    let isNarrow = width < column + minimumTextColumns
    let indent = "".padded(to: isNarrow ? 6 : column)
    let head = "  " + label
    guard !isNarrow, head.count + 2 <= column else {
      return [head] + TextLines(text, width: width, first: indent, next: indent)
    }
    return Array(TextLines(text, width: width, first: head.padded(to: column), next: indent))
  }

  // MARK: The tool

  private static func lines(of commands: CommandSet, showsAll: Bool, width: Int) -> [String] {
    var lines = Array(TextLines("Usage: duplex COMMAND [OPTION]...", width: width, next: "  "))
    lines += TextLines(commands.abstract, width: width)
    lines.append("")
    for command in commands.types {
      lines += row(
        command.configuration.commandName ?? "", command.configuration.abstract, column: 12,
        width: width)
    }
    lines.append("")
    for (words, meaning) in firstSteps { lines += row(words, meaning, column: 37, width: width) }
    lines.append("")
    guard showsAll else {
      return lines
        + TextLines(
          "duplex COMMAND --help shows a command's common options, --help-all all of them.",
          width: width)
    }
    for (words, meaning) in generalOptions {
      lines += row(words, meaning, column: 39, width: width)
    }
    for command in commands.types {
      lines += [""] + Self.lines(of: command, in: commands, showsAll: true, width: width)
    }
    return lines
  }

  private static let firstSteps = [
    ("duplex devices", "list the sound cards, with the names for -D"),
    ("duplex record", "record a note until you press q or Ctrl-C"),
    ("duplex play", "play the last note"),
    ("duplex record -D sim -d 3 try.wav", "record 3 s of silence, without a sound card"),
  ]

  private static let generalOptions = [
    ("duplex --version", "Show the version."),
    (
      "duplex --generate-completion-script",
      "Print a completion script for the shell in use, or for bash, zsh or fish if named."
    ),
  ]
}

/// The text of an argument in the help.
extension CommandArgument {
  /// The long name without dashes; for a positional argument, the name of its value.
  var name: String { longNames.first ?? valueName }

  /// The names and the value, such as `-d, --duration <time>`.
  var label: String {
    guard !isPositional else {
      let shown = valueName.uppercased() + (isRepeating ? "..." : "")
      return isOptional ? "[\(shown)]" : shown
    }
    return words.joined(separator: ", ") + (takesValue ? " <\(valueName)>" : "")
  }

  /// The words that name the option, with their dashes.
  var words: [String] {
    shortNames.map { "-" + $0 } + longNames.map { "--" + $0 }
      + (hasInverse ? ["--no-" + name] : [])
  }

  /// The whole description, with the default value.
  var text: String {
    abstract + (defaultValue.map { " (default: \($0))" } ?? "")
      + (discussion.map { " " + $0 } ?? "")
  }

  /// The first sentence of the description.
  var firstSentence: String {
    abstract.firstRange(of: ". ").map { abstract[..<$0.lowerBound] + "." } ?? abstract
  }
}

/// The options of the commands by task, in the order of the help.
enum HelpSections {
  struct Section {
    let title: String
    /// The commands that the section applies to; empty if it applies to each command that has such
    /// options.
    let commands: Set<String>
    /// The long names, without dashes.
    let names: [String]

    init(_ title: String, of commands: Set<String> = [], _ names: String) {
      self.title = title
      self.commands = commands
      self.names = names.split(separator: " ").map(String.init)
    }
  }

  /// The sections. An option is shown in the first section that applies to its command and contains
  /// its name.
  static let all = [
    Section("Pictures", of: ["inspect"], "waveform spectrogram overwrite"),
    Section("Checks", of: ["doctor"], "load"),
    Section("Devices", of: ["devices"], "watch"),
    Section("Repair", of: ["repair"], "in-place output overwrite rate channels sample-format"),
    Section(
      "Measurement", of: ["latency"],
      "acoustic repeat reopen level from-channel to-channel save report overwrite listen reference"),
    Section("Trials", of: ["tune"], "load seconds margin save report overwrite"),
    Section(
      "Takes", of: ["overdub"],
      "latency sub-frame from to takes count-in tempo mix overwrite"),
    Section(
      "What is played", of: ["play"],
      "start end region loop reverse speed gain pan shuffle repeat together compare prebuffer dither raw"
    ),
    Section(
      "File",
      "record record-what file-format sample-format overwrite split keep on-file sync ring "
        + "levels"),
    Section(
      "Start and end",
      "duration stop-after-silence pre-roll voice-activated threshold hold tail auto-gain-check"),
    Section("Tags", "title artist comment date"),
    Section("Voice", "denoise agc dereverb high-pass echo-cancel raw"),
    Section(
      "Monitoring",
      "monitor gain mute mix start end region loop reverse speed pan limit limit-lookahead "
        + "limit-true-peak feedback-guard dim"),
    Section(
      "Sound card",
      "device capture-device playback-device also-play rate channels capture-channels "
        + "playback-channels format master capture-volume playback-volume reconnect no-reserve"),
    Section("Latency", "period-size periods headroom resampler-quality realtime-priority"),
    Section("Messages", "json quiet verbose no-config version help"),
  ]

  /// Returns the options `arguments` of the command `name` by task.
  static func sections(
    of arguments: [CommandArgument], _ name: String
  ) -> [(title: String, arguments: [CommandArgument])] {
    var rest = arguments
    var sections: [(title: String, arguments: [CommandArgument])] = []
    for section in all where section.commands.isEmpty || section.commands.contains(name) {
      let found = section.names.compactMap { name in rest.first { $0.name == name } }
      rest.removeAll { section.names.contains($0.name) }
      if !found.isEmpty { sections.append((section.title, found)) }
    }
    return sections + (rest.isEmpty ? [] : [("Other options", rest)])
  }

  /// The options that `--help` shows. For a command that is not in this list, it shows all options.
  static let common: [String: Set<String>] = [
    "record": names("overwrite file-format split duration stop-after-silence gain monitor device"),
    "monitor": names("record record-what duration gain mix device capture-device period-size"),
    "play": names("start end loop speed gain shuffle repeat device duration"),
    "overdub": names("latency from to takes count-in mix overwrite monitor device period-size"),
    "latency": names("acoustic repeat level save report device period-size"),
    "repair": names("in-place output overwrite rate channels sample-format json"),
    "tune": names("load seconds margin save device rate"),
  ]

  private static func names(_ words: String) -> Set<String> {
    Set(words.split(separator: " ").map(String.init))
  }
}
