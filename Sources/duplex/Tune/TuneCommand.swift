import ArgumentParser

/// `duplex tune`.
struct TuneCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract: "Find the lowest period size and headroom that work without dropouts.",
    discussion: """
      Plays silence with smaller and smaller periods. Use the machine as usual meanwhile, or give --load.

      A setting is refused after one xrun, or after a callback that leaves less of its period unused than \
      --margin says. With a cable from output to input the round trip is measured at the end.
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  @Option(
    name: .customLong("seconds"), help: ArgumentHelp("Length of each trial.", valueName: "time"))
  private var length = TimeOption.seconds(10)

  @Flag(help: "Load every processor and the disk during the trials.")
  var load = false

  @Option(
    help: ArgumentHelp(
      "Share of each period that must stay unused, in percent.", valueName: "percent"))
  var margin = 30.0

  @Flag(help: "Save the result as the device's profile; commands without -p use it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  func validate() throws {
    guard (0.1...86_400).contains(seconds) else {
      throw ValidationError("--seconds takes 0.1 to 86400 s, as 10 or 2m.")
    }
    guard (0...99).contains(margin) else {
      throw ValidationError("--margin takes 0 to 99 percent.")
    }
  }

  /// Length of each trial in seconds. Frames are those of the rate that was asked for.
  var seconds: Double { length.seconds(at: audio.rate ?? 48000) }

  func run() throws {
    let status = try inTermsOfTheTool {
      try picture.check(against: InputFiles(audio))
      return try TuneRun(self).run()
    }
    throw ExitCode(status.rawValue)
  }
}
