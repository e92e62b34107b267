import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex
import Glibc
import LatencyMeasurement
import ProgramRuntime
import RealtimeAudio

/// The command `duplex tune`.
struct TuneCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract: "Find the lowest period size and headroom that work without dropouts.",
    discussion: """
      Plays silence with smaller and smaller periods. Use the machine as usual during the trials, or give --load.

      A setting is rejected after one xrun (dropout), or if a callback leaves less than --margin of its \
      period unused. With a cable from output to input the round trip is measured at the end. -p sets the \
      longest period that is tried; -d ends the search with the best setting so far.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(name: .customLong("seconds"), help: .init("Length of each trial.", valueName: "time"))
  private var length = TimeOption.seconds(10)

  @Flag(help: "Load every processor and the disk during the trials.")
  var load = false

  @Option(
    name: .customLong("margin"),
    help: .init("Share of each period that must stay unused, in percent.", valueName: "percent"))
  private var unused = DecimalOption(30)

  @Flag(help: "Save the result as the device's profile; commands without -p use it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  func validate() throws {
    try require(
      TuneSettings.trialRange.contains(seconds),
      "--seconds must be \(TuneSettings.trialRange.boundsText) s, such as 10 or 2m.")
    try require(
      TuneSettings.marginRange.contains(margin),
      "--margin must be \(TuneSettings.marginRange.boundsText) percent.")
  }

  /// The share of each period that must stay unused, in percent.
  var margin: Double { unused.value }

  /// The length of each trial in seconds. A length in frames is converted at the requested rate.
  var seconds: Double { length.seconds(at: audio.rate ?? 48000) }

  /// The settings of the search.
  var settings: TuneSettings {
    var settings = TuneSettings()
    settings.trialSeconds = seconds
    settings.totalSeconds = audio.duration?.seconds(at: audio.rate ?? 48000)
    settings.marginPercent = margin
    settings.longestPeriodFrames = audio.periodSize ?? settings.longestPeriodFrames
    settings.sampleRate = audio.rate
    return settings
  }

  func perform() throws -> ExitStatus {
    try picture.check(against: InputFiles(audio))
    if save {
      try DeviceProfile.check(capture: audio.inputDevice, playback: audio.outputDevice)
    }
    return try TuneRun(self).run()
  }
}

/// A search for the lowest stable setting, from its first trial to its summary.
final class TuneRun {
  let command: TuneCommand
  private(set) var tuning: Tuning
  private(set) var totals = SessionTotals()
  /// The configuration that the device granted for the last trial.
  private(set) var configuration: DuplexConfiguration?
  private var options: AudioOptions
  private var load: SystemLoad?
  private let line = ProgressLine("Searching", "trial")

  init(_ command: TuneCommand) {
    self.command = command
    options = command.audio
    tuning = Tuning(command.settings)
  }

  func run() throws -> ExitStatus {
    try options.request(captures: true, plays: true).validate()
    // Signals are held before any thread starts, so that only the watch receives them.
    SignalWatch.hold()
    if command.load { load = try SystemLoad(folder: SystemLoad.defaultFolder) }
    while !totals.isOver, let step = tuning.next() { note(try soak(step)) }
    load = nil
    warnIfUnconfirmed()
    guard let chosen = tuning.chosen, !totals.isOver else {
      return try TuneResult(self, chosen: nil, roundTripFrames: nil).conclude()
    }
    let roundTrip = tuning.isTimeOver ? nil : try measure(chosen)
    return try TuneResult(self, chosen: chosen, roundTripFrames: roundTrip).conclude()
  }

  private func warnIfUnconfirmed() {
    guard tuning.chosen != nil, !tuning.isConfirmed, tuning.isTimeOver else { return }
    warn(
      "notConfirmed",
      "A setting is found; --duration left no time to confirm it with a trial of \(tuning.confirmationSeconds.shown(1)) s.",
      hint: "Use a longer --duration, or leave --duration out.")
  }

  /// Runs one trial.
  private func soak(_ step: TuneStep) throws -> TuneTrial {
    options.rate = step.sampleRate
    var options = options(step.setting)
    options.duration = .seconds(step.seconds)
    do {
      let choice = DeviceChoice(options, captures: true, plays: true)
      return try choice.use { open in try soak(step, options, on: open) }
    } catch let failure as DeviceFailure where failure.kind == .refused {
      return TuneTrial(
        refused: step, sampleRate: step.sampleRate ?? configuration?.sampleRate ?? 0)
    }
  }

  /// Plays silence with one setting for the duration in `options`.
  private func soak(
    _ step: TuneStep, _ options: AudioOptions, on open: consuming OpenDevice
  ) throws -> TuneTrial {
    let configuration = open.configuration
    let isGranted = step.isGranted(by: configuration)
    // The configuration of a rejected setting does not describe the trials that ran.
    if isGranted || self.configuration == nil { self.configuration = configuration }
    guard isGranted else {
      return TuneTrial(refused: step, sampleRate: configuration.sampleRate)
    }
    var parts = SessionParts()
    parts.task = task(step, frames: step.frameLimit(at: configuration.sampleRate), configuration)
    // One xrun is enough to reject the setting.
    parts.poll = { $0.captureXruns + $0.playbackXruns > 0 ? .end : nil }
    let outcome = try SessionOutcome.run(Mixer(configuration), on: open, options, parts)
    totals.add(outcome)
    return TuneTrial(step, configuration, outcome.report)
  }

  /// Returns the line of the screen for a trial of `frames` frames.
  private func task(
    _ step: TuneStep, frames: Int, _ configuration: DuplexConfiguration
  ) -> LiveTask {
    let setting = step.setting
    var task = LiveTask(
      "Trial \(tuning.trials.count + 1): period \(setting.periodFrames), headroom \(setting.headroomFrames)"
    )
    let clock = SteadyTime()
    let (line, done) = (line, tuning.done)
    task.progress = {
      let part = min(1, clock.seconds * Double(configuration.sampleRate) / Double(max(1, frames)))
      return line.progress(
        done + part * (1 - done) / Double(step.remainingTrials + 1), of: "search")
    }
    return task
  }

  /// Stores a trial, and prints it.
  private func note(_ trial: TuneTrial) {
    let prints = !command.audio.json && !command.audio.quiet
    let loadLimit = tuning.settings.loadLimit
    if tuning.trials.isEmpty, prints { Terminal.printLine("\(TrialLine.heading)") }
    tuning.note(trial)
    if prints { Terminal.printLine("\(TrialLine(trial, loadLimit: loadLimit).text)") }
    if OutputMode.current.json {
      line.reportProgress(tuning.done, trial.fields(loadLimit: loadLimit))
    }
  }

  /// Measures the round trip with the chosen setting. Returns nil if the result is unreliable.
  private func measure(_ setting: TuneSetting) throws -> Double? {
    let options = options(setting)
    let choice = DeviceChoice(options, captures: true, plays: true)
    let (found, outcome) = try choice.use { open in
      var plan = ProbePlan(open.configuration)
      plan.repeats = 1
      return try measureRoundTrips(on: open, plan, options)
    }
    totals.note(outcome)
    configuration = outcome.configuration
    let answer = found.main.flatMap {
      RoundTripEstimate($0, sampleRate: outcome.configuration.sampleRate)
    }
    return answer?.objection == nil ? answer?.frames : nil
  }

  /// Returns the options for a setting, without a duration.
  private func options(_ setting: TuneSetting) -> AudioOptions {
    var options = options
    options.periodSize = setting.periodFrames
    options.headroom = setting.headroomFrames
    options.duration = nil
    // Xruns are the purpose of the trials, and are listed in the table.
    options.quiet = !command.audio.verbose
    return options
  }
}
