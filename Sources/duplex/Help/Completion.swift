import AudioDevices
import AudioFiles
import SimulatedDevices

/// The completions of the last word on the command line: commands, options, values of options, and
/// the devices that are present.
struct Completion {
  /// A completion of the word, and its meaning.
  struct Candidate: Equatable {
    let word: String
    let meaning: String

    init(_ word: String, _ meaning: String = "") { (self.word, self.meaning) = (word, meaning) }
  }

  private(set) var candidates: [Candidate] = []
  /// Whether file names are completions as well.
  private(set) var takesFiles = false

  /// The lines for the shells: `files` or `words`, then one line for each candidate with a tab
  /// before its meaning.
  var lines: [String] {
    [takesFiles ? "files" : "words"] + candidates.map { "\($0.word)\t\($0.meaning)" }
  }

  private static let completeHelp = Candidate("--help-all", "Show all options, by task.")

  private let commands: CommandSet
  private let devices: () -> [DeviceCandidate]

  /// Completes the last of `words`, which are the words after the name of the program. `devices`
  /// returns the devices that are present.
  init(
    of words: [String], _ commands: CommandSet,
    devices: @escaping () -> [DeviceCandidate] = DeviceNames.candidates
  ) {
    (self.commands, self.devices) = (commands, devices)
    let current = words.last ?? ""
    let before = words.dropLast()
    let names = commands.names + ["help"]
    guard let first = before.first else {
      addCommands()
      if current.hasPrefix("-") {
        candidates = ["--help", "--help-all", "--version", "--generate-completion-script"]
          .map { Candidate($0) }
      }
      keep(current)
      return
    }
    if first == "--generate-completion-script" {
      candidates = ["bash", "zsh", "fish"].map { Candidate($0) }
    } else if let name = names.first(where: { $0 == first })
      ?? names.only(where: { $0.hasPrefix(first) })
    {
      if name != "help" {
        complete(current, behind: Array(before.dropFirst()), of: name)
        return
      }
      if before.count == 1 { addCommands() }
      if current.hasPrefix("-") { candidates = [Self.completeHelp] }
    }
    keep(current)
  }

  private mutating func addCommands() {
    candidates =
      commands.types.map {
        Candidate($0.configuration.commandName ?? "", $0.configuration.abstract)
      } + [Candidate("help", "Show the help of a command.")]
  }

  /// Removes candidates that do not begin with `start`, and those with characters that are special
  /// in a shell.
  private mutating func keep(_ start: String) {
    candidates.removeAll { !$0.word.hasPrefix(start) || !$0.word.allSatisfy(Self.isPlain) }
    candidates = candidates.map { Candidate($0.word, $0.meaning.printable) }
  }

  private static func isPlain(_ character: Character) -> Bool {
    character.isASCII
      && (character.isLetter || character.isNumber || "-_:=,.+%/@|".contains(character))
  }

  // MARK: Options

  private mutating func complete(_ current: String, behind words: [String], of command: String) {
    let arguments = commands.arguments(of: command)
    guard !words.contains("--") else {
      takesFiles = arguments.contains(where: \.isPositional)
      return
    }
    if let last = words.last, let option = Self.option(last, arguments), option.takesValue,
      !Self.isValue(words.count - 1, words, arguments)
    {
      addValues(of: option, current)
      keep(current)
      return
    }
    if current.hasPrefix("--"), let end = current.firstIndex(of: "=") {
      let name = String(current[..<end])
      let start = name + "="
      guard let option = Self.option(name, arguments), option.takesValue else { return }
      addValues(of: option, String(current.dropFirst(start.count)))
      candidates = candidates.map { Candidate(start + $0.word, $0.meaning) }
      keep(current)
      return
    }
    guard !current.hasPrefix("-") else {
      addOptions(arguments, written: words, withLetters: current == "-")
      keep(current)
      return
    }
    takesFiles = arguments.contains(where: \.isPositional)
    if !takesFiles { addOptions(arguments, written: words, withLetters: false) }
    keep(current)
  }

  /// Adds all options except those that are already written and may be given once only.
  private mutating func addOptions(
    _ arguments: [CommandArgument], written: [String], withLetters: Bool
  ) {
    let written = written.compactMap { Self.option($0, arguments)?.name }
    for argument in arguments
    where !argument.isPositional && argument.name != "version"
      && (argument.isRepeating || !written.contains(argument.name))
    {
      if withLetters {
        candidates += argument.shortNames.map { Candidate("-" + $0, argument.firstSentence) }
      }
      candidates += argument.longNames.map { Candidate("--" + $0, argument.firstSentence) }
    }
    candidates.append(Self.completeHelp)
  }

  /// Returns the option that `word` names, in full or abbreviated.
  private static func option(_ word: String, _ arguments: [CommandArgument]) -> CommandArgument? {
    if word.hasPrefix("--") {
      let name = String(word.dropFirst(2).prefix { $0 != "=" })
      let found = arguments[name]
      guard found == nil, !name.isEmpty,
        let full = arguments.longNames.only(where: { $0.hasPrefix(name) })
      else { return found }
      return arguments[full]
    }
    guard word.count == 2, word.hasPrefix("-"), let letter = word.last else { return nil }
    return arguments[letter]
  }

  /// Returns whether the word at `index` is the value of the option before it.
  private static func isValue(
    _ index: Int, _ words: [String], _ arguments: [CommandArgument]
  ) -> Bool {
    guard index > 0, !words[index - 1].contains("="),
      let option = option(words[index - 1], arguments), option.takesValue
    else { return false }
    return !isValue(index - 1, words, arguments)
  }

  // MARK: Values

  private mutating func addValues(of option: CommandArgument, _ current: String) {
    if option.valueName == "pcm" {
      addDevices(
        captures: option.name != "playback-device" && option.name != "also-play",
        plays: option.name != "capture-device", current)
      return
    }
    if let values = CompletedValues.ofOptions[option.name]
      ?? CompletedValues.ofKinds[option.valueName]
    {
      // The names of ALSA's formats may be written in lower case as well.
      let isLower = current.first?.isLowercase == true
      candidates = values.map { Candidate(isLower ? $0.lowercased() : $0) }
    }
    takesFiles = CompletedValues.files.contains(option.valueName)
  }

  /// Adds the devices that support at least one of the requested directions.
  private mutating func addDevices(captures: Bool, plays: Bool, _ current: String) {
    if current.hasPrefix("sim:") {
      addKeys(of: current)
      return
    }
    let found = devices().filter { captures && $0.canCapture || plays && $0.canPlay }
    let isDefined = found.contains { $0.name == "default" }
    candidates =
      (isDefined ? [] : [Candidate("default", "ALSA's default")])
      + found.map { device in
        let title = [device.cardTitle, device.title].filter { !$0.isEmpty }.joined(separator: ", ")
        return Candidate(device.name, title)
      } + [Candidate("sim", "a simulated device")]
    if "sim".hasPrefix(current), current.count > 1 {
      candidates.append(Candidate("sim:", "the same with settings"))
    }
  }

  /// Adds the keys of a simulated device that may follow the text already written.
  private mutating func addKeys(of current: String) {
    let parts = current.dropFirst(4).split(separator: ",", omittingEmptySubsequences: false)
    let last = parts.last ?? ""
    let start = String(current.dropLast(last.count))
    if last.hasPrefix("clock=") {
      candidates = ["real", "free"].map { Candidate(start + "clock=" + $0) }
    } else if last.hasPrefix("mic=") {
      takesFiles = true
    } else if !last.contains("=") {
      candidates = SimulatedDeviceSpecification.keys.map { Candidate(start + $0 + "=") }
    }
  }
}

/// The values that can be completed, by kind of value and by option.
enum CompletedValues {
  /// The kinds of values that are file names or may be, by the value names of the options.
  static let files: Set = ["file", "file[:db]", "out", "auto|time|file", "command"]

  static let ofKinds = [
    "side": ["playback", "capture"], "what": ["mic", "mix"], "on|off": ["on", "off"],
    "auto|on|off": ["auto", "on", "off"], "n|off": ["70", "off"], "db|off": ["-1", "off"],
    "n|forever": ["forever"], "size|time|silence": ["silence", "100M", "10:00", "1h"],
    "n|size|age": ["24", "2G", "7d"], "auto|time|file": ["auto"], "volume": ["80%", "100%"],
    "n,...": ["1", "1,2", "3,4", "1,1"], "format,hz,n": ["S16_LE,44100,2", "cd", "dat"],
  ]

  static let ofOptions = [
    "format": FormatOption.allValueStrings,
    "file-format": FileFormat.allCases.map(\.rawValue),
    "sample-format": FileSampleFormat.allCases.map(\.name),
    "rate": ["44100", "48000", "88200", "96000", "176400", "192000"],
    "channels": ["1", "2"],
    "period-size": ["16", "32", "64", "128", "256", "512", "1024"],
    "headroom": ["16", "32", "64", "128", "256", "512", "1024"],
    "periods": ["2", "3", "4"],
    "resampler-quality": DuplexRequest.resamplerQualityRange.map(String.init),
  ]
}

extension Array {
  /// Returns the only element that fulfils the condition; nil if none or several do.
  fileprivate func only(where fits: (Element) -> Bool) -> Element? {
    let found = filter(fits)
    return found.count == 1 ? found[0] : nil
  }
}
