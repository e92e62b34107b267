import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import ProgramRuntime
import RealtimeAudio

/// The command line tool `duplex`.
@main
struct DuplexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplex",
    abstract: "Records, monitors and plays sound through ALSA at the card's lowest latency.",
    version: "0.1.0",
    subcommands: [
      RecordCommand.self, MonitorCommand.self, PlayCommand.self, LatencyCommand.self,
      OverdubCommand.self, TuneCommand.self, RepairCommand.self,
      InspectCommand.self,
      DevicesCommand.self, DoctorCommand.self,
    ])

  static let commands = CommandSet(configuration)

  static func main() {
    StandardStreams.occupyClosed()
    MemoryLock.separateLargeBlocks()
    ThreadPriority.makeThisThreadNormal()
    SignalWatch.prepareProgram()
    var arguments = ProgramArguments.bytes.map { FileName.text(of: $0) }
    // Applies until the words are parsed.
    OutputMode.current.json = arguments.contains("--json")
    do {
      if let text = try mappingErrors({ try ToolText(for: arguments, of: commands)?.text }) {
        Terminal.printLine(Line(trusting: text))
        end(.done)
      }
      let words = try CommandWords(arguments, of: commands)
      arguments = words.words
      if let page = HelpPage(for: words, width: min(Terminal.width, 100)) {
        Terminal.printLine(Line(trusting: page.text))
        end(.done)
      }
      let (parsed, warnings) = try parse(words, &arguments)
      guard var command = parsed as? any ToolCommand else { throw CleanExit.helpRequest(self) }
      OutputMode.current = command.outputMode
      OutputMode.current.stoppedStatus = command.stoppedStatus
      Terminal.endOnSignals(with: command.stoppedStatus)
      try mappingErrors { try checkRequest(of: command) }
      for warning in warnings { warning.report() }
      IgnoredOptions.report(words.command, arguments)
      // The parser is not needed again.
      MemoryLock.releaseStartUpCode()
      let status = try mappingErrors {
        if let audio = command as? any AudioCommand { command = try audio.resolvingDeviceNames() }
        return try command.perform()
      }
      end(status)
    } catch let failure as ToolFailure {
      DefaultOption.naming(failure).report()
      end(failure.status)
    } catch {
      emit(error, about: arguments)
    }
  }

  /// Returns the command that the words name, and warnings about the file of settings. Shortened
  /// options are completed only if the parser rejects the words as written, or if there are
  /// defaults to insert. `arguments` becomes the words that were parsed last.
  private static func parse(_ words: CommandWords, _ arguments: inout [String]) throws
    -> (any ParsableCommand, [Notice])
  {
    try words.refuseValuesOfHelp()
    let command = commands[words.command] as? any ToolCommand.Type
    var defaults = try Defaults(
      for: words, completeWords: command?.completeWords ?? [], alsoSet: FormatOption.optionsSet)
    if !defaults.isEmpty {
      let written = try words.completingOptions()
      try words.refuseEmptyValues(in: written)
      try defaults.adapt(to: written) { complaint(about: $0) }
      arguments = defaults.inserted(into: written)
      DefaultOption.current = defaults.options
      return (try parseAsRoot(arguments), defaults.warnings)
    }
    try words.refuseEmptyValues(in: arguments)
    var failure: any Error = CleanExit.helpRequest(self)
    do {
      let parsed = try parseAsRoot(arguments)
      // `HelpPage` has answered all requests for help, but the parser takes the h in `-Dhw:1,0` for
      // one as well.
      if parsed is any ToolCommand { return (parsed, []) }
    } catch {
      guard exitCode(for: error) != .success else { throw error }
      failure = error
    }
    let completed = try words.completingOptions()
    guard completed != arguments else { throw failure }
    try words.refuseEmptyValues(in: completed)
    arguments = completed
    return (try parseAsRoot(arguments), [])
  }

  /// Returns the reason for which `arguments` are rejected; nil if they are valid.
  private static func complaint(about arguments: [String]) -> String? {
    do {
      guard let command = try parseAsRoot(arguments) as? any ToolCommand else { return nil }
      try mappingErrors {
        try command.checkCombination()
        try checkRequest(of: command)
      }
      return nil
    } catch let failure as ToolFailure {
      return failure.message
    } catch {
      guard exitCode(for: error) != .success else { return nil }
      let complaint = sentence(for: error)
      return ExpectedValues.sentence(for: complaint) ?? complaint
    }
  }

  /// Throws if `command` requests settings that no device supports.
  private static func checkRequest(of command: any ToolCommand) throws {
    guard let audio = (command as? any AudioCommand)?.audio else { return }
    try audio.request(captures: true, plays: true).validate()
  }

  /// Ends the program after printing the remaining output as far as possible.
  static func end(_ status: ExitStatus) -> Never {
    let failure = Terminal.finish()
    guard let failure else { leave(status) }
    failure.report()
    leave(status == .done ? failure.status : status)
  }

  private static func leave(_ status: ExitStatus) -> Never {
    // Exit handlers of libraries would wait for a device that does not respond.
    if AbandonedThreads.exist { Terminal.leaveAtOnce(status) }
    Glibc.exit(status.rawValue)
  }

  /// Prints the parser's message about `arguments` and ends the program. A request for help is not
  /// an error; any other message is one, and is also emitted as an event for scripts.
  private static func emit(_ error: any Error, about arguments: [String]) -> Never {
    guard exitCode(for: error) != .success else {
      Terminal.printLine(Line(trusting: fullMessage(for: error)))
      end(.done)
    }
    // The parser's message repeats words of the user, so it is made from the words without
    // unprintable characters.
    let error =
      arguments.allSatisfy { $0 == $0.printable } ? error : failure(of: arguments) ?? error
    let complaint = sentence(for: error)
    let expected = ExpectedValues.sentence(for: complaint)
    ToolFailure.usage(
      complaint,
      hint: expected ?? nextStep(after: complaint, helpCommand(in: fullMessage(for: error)))
    ).report()
    end(.usage)
  }

  /// Returns the command, such as `duplex record --help`, that the parser's message names in
  /// quotes.
  private static func helpCommand(in message: String) -> Substring {
    message.split(separator: "'").last { $0.hasPrefix("duplex ") && $0.hasSuffix(" --help") }
      ?? "duplex --help"
  }

  /// Returns the sentence that leads from `complaint` to the correct use: the arguments of the
  /// command of `help`, if one of them is missing, and `help` itself.
  private static func nextStep(after complaint: String, _ help: Substring) -> String {
    let name = help.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    let isMissing = complaint.hasPrefix("Missing expected argument")
    guard isMissing, commands[name] != nil else { return "See \(help)." }
    let labels = commands.arguments(of: name).filter(\.isPositional).map(\.label)
    return "Write duplex \(name) \(labels.joined(separator: " ")); see \(help)."
  }

  /// Returns the parser's error for `arguments` without unprintable characters; nil if it accepts
  /// them.
  private static func failure(of arguments: [String]) -> (any Error)? {
    do {
      _ = try parseAsRoot(arguments.map(\.printable))
      return nil
    } catch {
      return error
    }
  }

  /// Returns the first line of the parser's message, which states the error, as a sentence.
  private static func sentence(for error: any Error) -> String {
    var line = message(for: error).split(separator: "\n").first.map(String.init) ?? "Wrong usage"
    // The possible values are in further lines, and in `ExpectedValues`.
    if let list = line.firstRange(of: " Please provide one of the following:") {
      line.removeSubrange(list)
    }
    // `CommandWords` has already reported close misspellings: the parser's suggestion is unrelated.
    if let guess = line.firstRange(of: " Did you mean ") {
      line.removeSubrange(guess.lowerBound...)
    }
    return line.hasSuffix(".") ? line : line + "."
  }
}
