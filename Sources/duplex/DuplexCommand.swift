import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio

/// The tool.
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
    var arguments = ProgramArguments.words
    // Until the words are understood.
    OutputMode.current.json = arguments.contains("--json")
    do {
      if let text = try inTermsOfTheTool({ try ToolText(for: arguments, of: commands)?.text }) {
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
      endOnSignals(with: command.stoppedStatus)
      for warning in warnings { warning.report() }
      IgnoredOptions.report(words.command, arguments)
      let status = try inTermsOfTheTool {
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

  /// The command that the words ask for. Only words that the parser does not know are looked at for
  /// shortened options; `arguments` are the words it was asked about last. With it comes what a
  /// person should know of the file of settings.
  private static func parse(_ words: CommandWords, _ arguments: inout [String]) throws
    -> (any ParsableCommand, [Notice])
  {
    try words.refuseValuesOfHelp()
    var defaults = try Defaults(for: words)
    if !defaults.isEmpty {
      let written = try words.completingOptions()
      try defaults.adapt(to: written) { complaint(about: $0) }
      arguments = defaults.inserted(into: written)
      DefaultOption.current = defaults.options
      return (try parseAsRoot(arguments), defaults.warnings)
    }
    do {
      return (try parseAsRoot(arguments), [])
    } catch {
      guard exitCode(for: error) != .success else { throw error }
      let completed = try words.completingOptions()
      guard completed != arguments else { throw error }
      arguments = completed
      return (try parseAsRoot(arguments), [])
    }
  }

  /// Why `arguments` are refused; nil where they are not.
  private static func complaint(about arguments: [String]) -> String? {
    do {
      guard let command = try parseAsRoot(arguments) as? any AudioCommand else { return nil }
      try command.audio.request(captures: true, plays: true).validate()
      return nil
    } catch let failure as DeviceFailure {
      return failure.message
    } catch {
      guard exitCode(for: error) != .success else { return nil }
      let complaint = sentence(for: error)
      return ExpectedValues.sentence(for: complaint) ?? complaint
    }
  }

  /// Until a session receives signals itself.
  private static func endOnSignals(with status: ExitStatus) {
    let failure = ToolFailure.stopped(status, "before it came to an end")
    ProgramSignals.endProgram(
      status: status.rawValue,
      sentence: status == .done ? "" : "duplex: \(failure.message) \(failure.hint)\n",
      event: OutputMode.current.json ? failure.event.json.text + "\n" : "")
  }

  /// Ends the program once all is printed that can be.
  static func end(_ status: ExitStatus) -> Never {
    let failure = Terminal.finish()
    guard status == .done, let failure else { leave(status) }
    failure.report()
    leave(failure.status)
  }

  private static func leave(_ status: ExitStatus) -> Never {
    // Libraries would wait for a device that does not answer.
    if AbandonedThreads.exist { Terminal.leaveAtOnce(status) }
    Glibc.exit(status.rawValue)
  }

  /// Tells what the parser has to say of `arguments`. A request for help is no error; a wrong word
  /// is one, and scripts want it as an event too.
  private static func emit(_ error: any Error, about arguments: [String]) -> Never {
    guard exitCode(for: error) != .success else {
      Terminal.printLine(Line(trusting: fullMessage(for: error)))
      end(.done)
    }
    // The parser repeats words of the user's: it gets to see them cleaned.
    let error =
      arguments.allSatisfy { $0 == $0.printable } ? error : failure(of: arguments) ?? error
    let complaint = sentence(for: error)
    let expected = ExpectedValues.sentence(for: complaint)
    ToolFailure.usage(
      complaint,
      hint: expected ?? "See \(helpCommand(in: fullMessage(for: error)))."
    ).report()
    end(.usage)
  }

  /// The command whose help the parser's message names between quotes: `duplex record --help`.
  private static func helpCommand(in message: String) -> Substring {
    message.split(separator: "'").last { $0.hasPrefix("duplex ") && $0.hasSuffix(" --help") }
      ?? "duplex --help"
  }

  /// What is wrong with `arguments` when they are cleaned.
  private static func failure(of arguments: [String]) -> (any Error)? {
    do {
      _ = try parseAsRoot(arguments.map(\.printable))
      return nil
    } catch {
      return error
    }
  }

  /// The parser's first line, which says what is wrong, as a sentence.
  private static func sentence(for error: any Error) -> String {
    var line = message(for: error).split(separator: "\n").first.map(String.init) ?? "Wrong usage"
    // The values stand in further lines, and in `ExpectedValues`.
    if let list = line.firstRange(of: " Please provide one of the following:") {
      line.removeSubrange(list)
    }
    // Close misspellings were answered before: the parser's suggestion here is unrelated.
    if let guess = line.firstRange(of: " Did you mean ") {
      line.removeSubrange(guess.lowerBound...)
    }
    return line.hasSuffix(".") ? line : line + "."
  }
}
