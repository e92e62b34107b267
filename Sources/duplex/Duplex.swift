import ArgumentParser
import AudioFiles
import Glibc
import RealtimeAudio

/// The tool.
@main
struct Duplex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplex",
    abstract: "Record, monitor and play over ALSA at the lowest latency the card allows.",
    discussion: """
      Needs no sound card to be tried: --device sim plays back into its own microphone.
      """,
    version: "0.1.0",
    subcommands: [
      RecordCommand.self, MonitorCommand.self, PlayCommand.self, LatencyCommand.self,
      OverdubCommand.self, TuneCommand.self, RepairCommand.self,
      DevicesCommand.self,
    ])

  static func main() {
    SignalWatch.holdUserSignals()
    do {
      var command = try parseAsRoot(words(FileName.arguments))
      try command.run()
    } catch let status as ExitCode {
      Glibc.exit(status.rawValue)
    } catch let failure as ToolFailure {
      failure.report()
      Glibc.exit(failure.status.rawValue)
    } catch {
      // A request for help is no error; a wrong word is one, and scripts want it as an event too.
      let code = exitCode(for: error)
      if code != .success, CommandLine.arguments.contains("--json") {
        ToolFailure(.usage, code: "usage", sentence(for: error), hint: "See duplex --help.")
          .reportJSON()
      }
      exit(withError: error)
    }
  }

  /// What was said, with `silence` where nothing is said about where to split: the parser knows no
  /// options that may do without their value.
  private static func words(_ arguments: [String]) -> [String] {
    guard arguments.first == "record" || arguments.first == "monitor" else { return arguments }
    return arguments.enumerated().flatMap { index, word in
      guard word == "--split" else { return [word] }
      let next = index + 1 < arguments.count ? arguments[index + 1] : ""
      // A word that could have been meant as a size is left to the parser to refuse.
      let isName = next.isEmpty || next.hasPrefix("-") || FileFormat(pathExtensionOf: next) != nil
      return isName ? [word, "silence"] : [word]
    }
  }

  /// The parser's first line, which says what is wrong, as a sentence.
  private static func sentence(for error: any Error) -> String {
    let line = message(for: error).split(separator: "\n").first.map(String.init) ?? "Wrong usage"
    return line.hasSuffix(".") ? line : line + "."
  }
}
