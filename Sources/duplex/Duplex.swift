import ArgumentParser
import Glibc

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
    do {
      var command = try parseAsRoot()
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

  /// The parser's first line, which says what is wrong, as a sentence.
  private static func sentence(for error: any Error) -> String {
    let line = message(for: error).split(separator: "\n").first.map(String.init) ?? "Wrong usage"
    return line.hasSuffix(".") ? line : line + "."
  }
}
