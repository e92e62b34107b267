import ArgumentParser
import AudioBasics
import AudioDevices
import AudioSessions
import DelayEstimation
import Duplex
import LatencyMeasurement
import RealtimeAudio

/// The command `duplex latency`.
struct LatencyCommand: AudioCommand {
  /// The numbers of times that the device is opened.
  static let reopenRange = 1...1000

  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Measure the round trip from output to input over a cable or the air.",
    discussion: """
      First connect an output to an input with a cable, or put a microphone in front of a loudspeaker \
      (--acoustic). --save keeps the result for `duplex overdub`.

      The command plays quiet bursts of noise, each louder than the one before, up to --level, until \
      the input receives them clearly. With --listen and --reference nothing is played: the delay is \
      measured in an existing recording.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(
    name: .customLong("repeat"),
    help: .init("Number of measurements of each output channel.", valueName: "n"))
  var repeats = 5

  @Option(help: .init("Open the device this many times, and measure each time.", valueName: "n"))
  var reopen = 1

  @Option(
    parsing: .unconditional,
    help: .init("Highest peak of the test signal, in dBFS.", valueName: "db"))
  var level = LevelOption(-12)

  @Option(help: .init("Output channel to play on, from 1. (default: each in turn)", valueName: "n"))
  var fromChannel: Int?

  @Option(help: .init("Input channel to listen on, from 1. (default: all)", valueName: "n"))
  var toChannel: Int?

  @Flag(help: "Measure through the air: use the first arrival instead of the strongest.")
  var acoustic = false

  @Flag(help: "Save the result for this device and these settings; overdub uses it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  @Option(
    help: .init("Find the delay of the sound of --reference in this recording.", valueName: "file"))
  var listen: String?

  @Option(help: .init("With --listen: the file that was played.", valueName: "file"))
  var reference: String?

  func validate() throws {
    try require(
      RoundTripSettings.repeatRange.contains(repeats) && Self.reopenRange.contains(reopen),
      "--repeat must be \(RoundTripSettings.repeatRange.boundsText), and --reopen \(Self.reopenRange.boundsText)."
    )
    try require(
      LevelOption.decibelRange.contains(level.decibels),
      "--level must be \(LevelOption.decibelRange.boundsText) dBFS, such as -12.")
    try require(
      (listen == nil) == (reference == nil),
      "--listen and --reference must be given together.")
    try require(
      listen == nil || !save,
      "--save cannot be used with --listen: it saves the round trip of a device, and none is measured. "
        + "Leave --save out, and give overdub the result with --latency.")
    try require(
      [fromChannel, toChannel].compactMap(\.self).allSatisfy(DuplexRequest.channelRange.contains),
      "--from-channel and --to-channel must be \(DuplexRequest.channelRange.boundsText).")
  }

  func perform() throws -> ExitStatus {
    var inputs = InputFiles(audio)
    for path in [listen, reference].compactMap({ $0 }) { inputs.add(path) }
    try picture.check(against: inputs)
    if save { try SavedRoundTrip.checkFolder() }
    if let listen, let reference {
      return try OfflineLatency(self, listen: listen, reference: reference).run()
    }
    return try LatencyRun(self).run()
  }

  /// Returns the index, from 0, of the channel `number` of the `count` channels that `owner` has;
  /// nil if no channel is named. Throws if `number` is too high.
  static func channel(_ number: Int?, of count: Int, _ owner: String, hint: String)
    throws(ToolFailure) -> Int?
  {
    guard let number else { return nil }
    guard number <= count else {
      throw ToolFailure.usage(
        "\(owner) has \(count.counted("channel")), so there is no channel \(number).", hint: hint)
    }
    return number - 1
  }

  /// The arrival that is used as the result.
  var choice: DelayEstimator.Choice { acoustic ? .first : .strongest }
}

/// A measurement on a device, with one open stream or several in succession.
final class LatencyRun {
  private let command: LatencyCommand
  private var trips = RoundTrips()
  private var sessions = SessionTotals()
  private var configuration: DuplexConfiguration?
  private let line = ProgressLine("Measuring", "measurement")

  init(_ command: LatencyCommand) {
    self.command = command
  }

  /// What --duration leaves for the next stream; nil without a limit.
  private var durationLeft: TimeOption? {
    guard let configuration, let duration = command.audio.duration else {
      return command.audio.duration
    }
    let frames = duration.frameCount(at: configuration.sampleRate) - sessions.report.frames
    return .frames(Double(max(0, frames)))
  }

  func run() throws -> ExitStatus {
    for number in 0..<command.reopen {
      let choice = DeviceChoice(command.audio, captures: true, plays: true)
      let (found, outcome) = try choice.use { open in try measure(number, on: open) }
      trips.add(found)
      sessions.add(outcome)
      configuration = outcome.configuration
      // If the first stream received no signal, another one will not receive it either.
      if sessions.isEnded || trips.pairs.isEmpty { break }
    }
    guard let configuration else { return .loss }
    return try LatencyResult(trips, configuration, sessions).conclude(command)
  }

  /// Measures on one open stream.
  private func measure(
    _ number: Int, on open: consuming OpenDevice
  ) throws -> (RoundTrips, SessionOutcome) {
    if command.save, number == 0 { try SavedRoundTrip.checkFile(for: open.configuration) }
    let plan = try plan(open.configuration, draws: number == 0)
    let share = 1 / Double(command.reopen)
    let opening = command.reopen > 1 ? "opening \(number + 1) of \(command.reopen), " : ""
    var options = command.audio
    options.duration = durationLeft
    return try measureRoundTrips(on: open, plan, options) {
      [line] done, what in
      line.progress((Double(number) + done) * share, of: opening + what)
    } progress: { [line] done in
      if OutputMode.current.json { line.reportProgress((Double(number) + done) * share) }
    }
  }

  private func plan(_ configuration: DuplexConfiguration, draws: Bool) throws -> ProbePlan {
    var plan = ProbePlan(configuration)
    let hint = "Use a lower number, or ask for more channels with --channels."
    plan.fromChannel = try LatencyCommand.channel(
      command.fromChannel, of: plan.playbackChannels, "The output", hint: hint)
    plan.toChannel = try LatencyCommand.channel(
      command.toChannel, of: plan.captureChannels, "The input", hint: hint)
    plan.repeats = command.repeats
    plan.levelCapDBFS = command.level.decibels
    plan.choice = command.choice
    plan.draws = draws && command.picture.report != nil
    return plan
  }
}
