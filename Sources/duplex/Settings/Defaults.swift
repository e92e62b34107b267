import AudioDevices
import AudioFiles
import ConfigurationFiles

/// The defaults that `$DUPLEX_DEVICE` and the file of settings provide for the options of a
/// command. The command line has precedence over the variable, and the variable over the file. In
/// the file, the table of the device comes first, then that of the command, then the settings
/// before all tables.
struct Defaults {
  private(set) var options: [DefaultOption] = []
  /// The warnings about the file of settings.
  private(set) var warnings: [Notice] = []
  /// The defaults that another place overrides; they are checked all the same.
  private var overridden: [DefaultOption] = []

  /// Whether there are no defaults and no warnings.
  var isEmpty: Bool { options.isEmpty && overridden.isEmpty && warnings.isEmpty }

  private let command: String
  private let commands: CommandSet
  private let known: [CommandArgument]
  /// The long names of the options that are set already, at first those that the user wrote.
  private var written: Set<String> = []
  /// The options that were set before the file was read.
  private var given: Set<String> = []
  /// The devices that are named, by the long names of their options, and the devices of this run.
  private var namedDevices: [String: String] = [:]
  private var devices: [String] = []

  /// Words with which every option of the command may have an effect.
  private let completeWords: [String]
  /// Returns the options that an option also sets if it has a certain value.
  private let alsoSet: (_ option: String, _ value: String) -> [String]

  /// Reads the defaults for a command of the user. Every option of the command may have an effect
  /// beside `completeWords`; `alsoSet` returns the options that an option also sets if it has a
  /// certain value. Throws if the file cannot be read, or if it contains
  /// settings that no command has.
  init(
    for words: CommandWords, completeWords: [String],
    alsoSet: @escaping (_ option: String, _ value: String) -> [String]
  ) throws {
    self.completeWords = completeWords
    self.alsoSet = alsoSet
    let isHelp = words.words.contains { ["--help", "-h", "--version"].contains($0) }
    let isRead = words.command != nil && words.readsConfiguration && !isHelp
    let variable = isRead ? FileName.variable("DUPLEX_DEVICE") ?? "" : ""
    let file = isRead ? try Self.file() : nil
    if isRead, file == nil, let path = Self.path, TextFile.isHidden(path) {
      warnings.append(
        .warning(
          "configuration", "\(path) cannot be read (permission denied): its defaults are ignored.",
          hint: "Check the permissions of its folder, or leave the file out with --no-config."))
    }
    command = words.command ?? ""
    commands = words.commands
    let isNeeded = !variable.isEmpty || file != nil
    known = isNeeded ? commands.arguments(of: command) : []
    guard isNeeded else { return }
    note(try words.completingOptions())
    if !variable.isEmpty, known["device"] != nil, !written.contains("device") {
      options.append(
        DefaultOption(
          option: "device", value: variable, source: "DUPLEX_DEVICE", line: nil,
          words: ["--device=\(variable)"]))
      written.insert("device")
      namedDevices["device"] = variable
    }
    if let file { try add(file.entries, path: file.path) }
  }

  /// Returns the words to be parsed: the defaults are inserted before the options of the user.
  func inserted(into words: [String]) -> [String] { Self.words(words, with: options) }

  private static func words(_ words: [String], with options: [DefaultOption]) -> [String] {
    guard let command = words.first else { return words }
    return [command] + options.flatMap(\.words) + words.dropFirst()
  }

  /// Removes the defaults that cannot be used together with `words`, which the user wrote: the
  /// command line has precedence. Throws if a default cannot be used in any run. `failing` returns
  /// the reason for which words are rejected, or nil. If the words are rejected without any
  /// default, nothing is removed.
  mutating func adapt(
    to words: [String], failing: ([String]) -> String?
  ) throws(ToolFailure) {
    guard !isEmpty, failing(words) == nil else { return }
    for option in overridden {
      let reason = failing(Self.words(words, with: [option]))
      if let reason, !suits(option, failing) { throw refusal(option, reason) }
    }
    guard failing(inserted(into: words)) != nil else { return }
    var kept: Set<Int> = []
    // Two passes, because an option may need another one that follows it.
    for _ in 0..<2 {
      for index in options.indices where !kept.contains(index) {
        let tried = options.indices.filter { kept.contains($0) || $0 == index }.map { options[$0] }
        if failing(Self.words(words, with: tried)) == nil { kept.insert(index) }
      }
    }
    let used = options.indices.filter(kept.contains).map { options[$0] }
    for index in options.indices where !kept.contains(index) {
      let option = options[index]
      let reason =
        failing(Self.words(words, with: [option]))
        ?? failing(Self.words(words, with: used + [option]))
      // Two defaults of the file may contradict each other regardless of the command line.
      guard suits(option, failing), suits(option, beside: used, failing) else {
        throw refusal(option, reason ?? "")
      }
      guard Self.chosen.contains(option.option) else { continue }
      warnings.append(
        .warning(
          "defaultLeftOut",
          "\(option.location): \(option.option) is not used here. \(reason ?? "")",
          hint: "Give it on the command line, or leave the file out with --no-config."))
    }
    options = used
  }

  /// The options for devices and formats: a default of one that is not used causes a warning.
  private static let chosen: Set<String> = [
    "device", "capture-device", "playback-device", "channels", "capture-channels",
    "playback-channels", "rate", "format", "file-format", "sample-format",
  ]

  /// Returns whether a default can be used in some run, with the complete words of the command.
  private func suits(
    _ option: DefaultOption, beside others: [DefaultOption] = [], _ failing: ([String]) -> String?
  ) -> Bool {
    // If an option is given twice, the last value is used.
    failing([command] + completeWords + others.flatMap(\.words) + option.words) == nil
  }

  private func refusal(_ option: DefaultOption, _ reason: String) -> ToolFailure {
    ToolFailure.usage(
      "\(option.location): \(option.option) cannot be \(option.value). \(reason)",
      hint: "Correct the file, or ignore it in this run with --no-config.")
  }

  /// Records the options that the user wrote.
  private mutating func note(_ words: [String]) {
    var rest = words.dropFirst()
    while let word = rest.popFirst(), word != "--" {
      guard word.hasPrefix("-"), word != "-" else {
        noteOperand(word)
        continue
      }
      let name = word.prefix { $0 != "=" }
      let value = word.count > name.count ? String(word.dropFirst(name.count + 1)) : nil
      guard let option = known.named(String(name)) else {
        // A word of several letters: only the last one may be an option with a value.
        for letter in word.dropFirst() {
          written.formUnion(known[letter]?.longNames ?? [])
        }
        continue
      }
      written.formUnion(option.longNames)
      let argument = option.takesValue ? value ?? rest.popFirst() : nil
      if let argument { written.formUnion(alsoSet(option.longNames[0], argument)) }
      if let argument, option.longNames[0].hasSuffix("device") {
        namedDevices[option.longNames[0]] = argument
      }
    }
    // After --, every word is an operand.
    for word in rest { noteOperand(word) }
  }

  /// Records the option that an operand replaces: the extension of a file to be written determines
  /// its format.
  private mutating func noteOperand(_ word: String) {
    guard known["file-format"] != nil, FileFormat(pathExtensionOf: word) != nil else { return }
    written.insert("file-format")
  }

  private mutating func add(_ entries: [ConfigurationEntry], path: String) throws(ToolFailure) {
    given = written
    let names = commands.names
    let all = settable(names)
    let general = entries.filter { $0.table.isEmpty }
    let ofCommand = entries.filter { $0.table == command }
    devices = devices(of: ofCommand + general)
    for entry in entries {
      // This applies to all commands: `[[record]]` is not a table, but has the name of an option.
      if entry.kind == .nested, entry.isList, all.contains(entry.key) || names.contains(entry.key) {
        throw Self.failure(
          path, entry.line, "\(entry.key) is a list of tables or lists.",
          hint: names.contains(entry.key)
            ? "Settings stand under [\(entry.key)], or before the first table."
            : "Give the option one value, such as \(entry.key) = \"1,2\".")
      }
      if entry.tableLine > 0, entry.table.isEmpty {
        throw Self.failure(
          path, entry.tableLine, "The name of this table is empty.",
          hint: "Name a command or a device, or put its settings before the first table.")
      }
      let options =
        names.contains(entry.table) ? settable([entry.table]) : all
      guard options.contains(entry.key) else { throw Self.unknown(entry, options, path) }
    }
    let ofDevice = entries.filter {
      !$0.table.isEmpty && !names.contains($0.table) && isDevice($0.table)
    }
    warnOfTables(in: entries, path: path, commands: names)
    for entry in ofDevice + ofCommand + general { try add(entry, path) }
  }

  /// Warns about tables whose names resemble those of commands. They are not errors, because they
  /// may belong to a device that is not used in this run.
  private mutating func warnOfTables(
    in entries: [ConfigurationEntry], path: String, commands: [String]
  ) {
    var mentioned: Set<String> = []
    for entry in entries
    where !entry.table.isEmpty && !commands.contains(entry.table)
      && mentioned.insert(entry.table).inserted
    {
      guard let command = EditDistance.nearest(to: entry.table, of: commands),
        EditDistance.between(Array(entry.table.lowercased()), Array(command)) <= 2,
        !isDevice(entry.table)
      else { continue }
      warnings.append(
        .warning(
          "unknownTable",
          "\(path), line \(entry.tableLine): There is no command \(entry.table), and this run uses no such device.",
          hint: "Did you mean [\(command)]?"))
    }
  }

  /// Returns the options of the commands `names` that a file may set.
  private func settable(_ names: [String]) -> Set<String> {
    Set(names.flatMap { commands.arguments(of: $0).longNames })
      .subtracting(["help", "version", "no-config"])
  }

  /// Returns the devices of this run: for each direction the device that is named for it, else the
  /// one that is named for both.
  private func devices(of entries: [ConfigurationEntry]) -> [String] {
    func named(_ option: String) -> String? {
      if let name = namedDevices[option] { return name }
      guard !isWritten(option) else { return nil }
      return entries.first { $0.key == option }?.values.first
    }
    return (command == "play" ? ["playback"] : ["capture", "playback"])
      .map { named($0 + "-device") ?? named("device") ?? "default" }
  }

  /// Adds the default of an entry. If the option is set already, the default counts as overridden.
  private mutating func add(_ entry: ConfigurationEntry, _ path: String) throws(ToolFailure) {
    guard let option = known[entry.key] else { return }
    let isOverridden = isWritten(entry.key)
    let words = try Self.words(entry, option, hasInverse: known["no-" + entry.key] != nil, path)
    guard !words.isEmpty || !isOverridden else { return }
    guard given.isDisjoint(with: Self.exclusive[entry.key] ?? []) else { return }
    let set = DefaultOption(
      option: entry.key, value: entry.values.joined(separator: ","), source: path,
      line: entry.line, words: words)
    if isOverridden {
      overridden.append(set)
    } else {
      written.formUnion(option.longNames)
      options.append(set)
      written.formUnion(alsoSet(entry.key, set.value))
    }
  }

  /// Returns whether an option is set. A device that the user named for both directions sets the
  /// input and the output as well.
  private func isWritten(_ key: String) -> Bool {
    let opposite = key.hasPrefix("no-") ? String(key.dropFirst(3)) : "no-" + key
    if written.contains(key) || written.contains(opposite) { return true }
    let isDirection = key == "capture-device" || key == "playback-device"
    return isDirection && written.contains("device") && !isDeviceOfFile
  }

  /// Options that may be used together, but contradict each other: a default is not used if the
  /// user gave the other option.
  private static let exclusive: [String: Set<String>] = [
    "quiet": ["verbose"], "verbose": ["quiet"],
  ]

  /// Whether only the file names the device.
  private var isDeviceOfFile: Bool {
    options.contains { $0.option == "device" && $0.line != nil }
  }

  private static func words(
    _ entry: ConfigurationEntry, _ option: CommandArgument, hasInverse: Bool, _ path: String
  ) throws(ToolFailure) -> [String] {
    switch entry.kind {
    case .boolean where !option.takesValue && !entry.isList:
      guard entry.values != ["true"] else { return ["--" + entry.key] }
      return hasInverse ? ["--no-" + entry.key] : []
    case .string where option.takesValue, .number where option.takesValue,
      .time where option.takesValue:
      guard !entry.values.contains("") else {
        throw failure(
          path, entry.line, "The value of \(entry.key) is empty.",
          hint: "Correct the file, or ignore it in this run with --no-config.")
      }
      return option.isRepeating
        ? entry.values.map { "--\(entry.key)=\($0)" }
        : ["--\(entry.key)=" + entry.values.joined(separator: ",")]
    default:
      throw failure(
        path, entry.line,
        option.takesValue
          ? "\(entry.key) takes a text, a number or a time."
          : "\(entry.key) is true or false, without quotes or brackets.",
        hint: entry.kind == .date && option.takesValue && entry.values != [""]
          ? "Write it in quotes: \(entry.key) = \"\(entry.values.joined(separator: ","))\""
          : "Correct the file, or ignore it in this run with --no-config.")
    }
  }

  /// Returns whether `table` is the name of a device of this run, or a part of it.
  private func isDevice(_ table: String) -> Bool {
    guard known["device"] != nil else { return false }
    return devices.contains { device in
      if device.lowercased().contains(table.lowercased()) { return true }
      return [true, false].contains { isCapture in
        let names = [device, table].compactMap {
          try? DeviceNames.resolve($0, isCapture: isCapture)
        }
        return names.count == 2 && names[0] == names[1]
      }
    }
  }

  private static func unknown(_ entry: ConfigurationEntry, _ names: Set<String>, _ path: String)
    -> ToolFailure
  {
    let location = entry.table.isEmpty ? "" : " in [\(entry.table)]"
    let nearest = CommandWords.nearestOption(to: entry.key, of: names.sorted())
    return failure(
      path, entry.line, "There is no option \(entry.key)\(location).",
      hint: nearest.map { "Did you mean \($0)?" } ?? "See duplex --help.")
  }

  private static func failure(_ path: String, _ line: Int, _ message: String, hint: String)
    -> ToolFailure
  {
    ToolFailure(.usage, code: "configuration", "\(path), line \(line): \(message)", hint: hint)
  }

  /// The path of the file of settings; nil if there is no folder for it.
  private static var path: String? {
    (try? SettingsFolder.folder()).map { $0 + "/config.toml" }
  }

  /// Returns the path and the entries of the file of settings; nil if the file does not exist.
  private static func file() throws(ToolFailure) -> (path: String, entries: [ConfigurationEntry])? {
    guard let path, FileStatus.isTaken(path) else { return nil }
    let text: String
    do throws(FileFailure) {
      text = try TextFile.read(path, limit: SettingsFolder.maximumByteCount)
    } catch {
      let status: ExitStatus = error.kind == .permissionDenied ? .noPermission : .usage
      throw ToolFailure(
        status, code: "configuration", error.message,
        hint: "Defaults are read from this file; ignore the file in this run with --no-config.")
    }
    guard !text.utf8.contains(0) else {
      throw ToolFailure(
        .usage, code: "configuration", "\(path) is not a text in UTF-8.",
        hint: "Save it as UTF-8 in an editor, or ignore it in this run with --no-config.")
    }
    do throws(ConfigurationFailure) {
      return (path, try ConfigurationFile(parsing: text).entries)
    } catch {
      let action =
        error.isValueWithoutQuotes ? "Put text in quotes, as device = \"usb\"" : "Correct the file"
      throw failure(
        path, error.line, "\(error.message).",
        hint: "\(action), or ignore it in this run with --no-config.")
    }
  }
}
