import ArgumentParser
import AudioDevices
import DelayEstimation
import LatencyMeasurement

/// `duplex latency`.
struct LatencyCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Measure the round trip from output to input over a cable or the air.",
    discussion: """
      Connect an output to an input with a cable, or put a microphone before a loudspeaker \
      (--acoustic).

      Soft bursts of noise are played, each louder than the one before, up to --level, until the input \
      receives them well enough. With --listen and --reference nothing is played: the delay is found in a \
      recording made elsewhere.
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  @Option(
    name: .customLong("repeat"),
    help: ArgumentHelp("Number of measurements of each output channel.", valueName: "n"))
  var repeats = 5

  @Option(
    help: ArgumentHelp("Open the device this many times, and measure each time.", valueName: "n"))
  var reopen = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Highest peak of the test signal, in dBFS.", valueName: "db"))
  var level = LevelOption(-12)

  @Option(
    help: ArgumentHelp("Output channel to play on, from 1. (default: each in turn)", valueName: "n")
  )
  var fromChannel: Int?

  @Option(
    help: ArgumentHelp("Input channel to listen on, from 1. (default: all)", valueName: "n"))
  var toChannel: Int?

  @Flag(help: "Measure through the air: the first arrival counts, not the strongest.")
  var acoustic = false

  @Flag(help: "Save the result for this device and these settings; overdub uses it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  @Option(
    help: ArgumentHelp(
      "Find the delay of the sound of --reference in this recording.", valueName: "file"))
  var listen: String?

  @Option(help: ArgumentHelp("With --listen: the file that was played.", valueName: "file"))
  var reference: String?

  func validate() throws {
    guard (1...10_000).contains(repeats), (1...1000).contains(reopen) else {
      throw ValidationError("--repeat takes 1 to 10000, --reopen 1 to 1000.")
    }
    guard level.decibels <= 0 else {
      throw ValidationError("--level is a peak below full scale: 0 or less, such as -12.")
    }
    guard (listen == nil) == (reference == nil) else {
      throw ValidationError("--listen and --reference belong together: name both files.")
    }
    guard listen == nil || !save else {
      throw ValidationError("--save is for a device, not for --listen.")
    }
    for channel in [fromChannel, toChannel].compactMap({ $0 }) where !(1...64).contains(channel) {
      throw ValidationError("Channels are counted from 1, and there are at most 64.")
    }
  }

  func run() throws {
    let status = try inTermsOfTheTool {
      var inputs = InputFiles(audio)
      for path in [listen, reference].compactMap({ $0 }) { inputs.add(path) }
      try picture.check(against: inputs)
      if let listen, let reference {
        return try OfflineLatency(self, listen: listen, reference: reference).run()
      }
      return try LatencyRun(self).run()
    }
    throw ExitCode(status.rawValue)
  }

  /// The channel `number`, counted from 0, of the `count` that `owner` has; nil where none is named.
  static func channel(_ number: Int?, of count: Int, _ owner: String, hint: String)
    throws(ToolFailure) -> Int?
  {
    guard let number else { return nil }
    guard number <= count else {
      throw ToolFailure(
        .usage, code: "usage", "\(owner) has \(count) channels, and no channel \(number).",
        hint: hint)
    }
    return number - 1
  }

  /// Which arrival is the answer.
  var choice: DelayEstimator.Choice { acoustic ? .first : .strongest }
}
